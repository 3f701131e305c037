"""Reading aids for people at a terminal."""
