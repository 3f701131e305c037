"""One file per architecture. The file's name is the architecture's; `tfkit.registry` finds it."""
