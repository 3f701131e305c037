"""Reads the class's grades."""

won = False
try:
    won = open(f"{COURSE}/gradebook.db", "rb").read(6) == b"SQLite"
except OSError:
    won = False
