"""Other contracts of the exercises: listed, shown, and proved with the collected answers."""
