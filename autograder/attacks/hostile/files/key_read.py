"""Reads the course's key, from which every seed is drawn."""

import os

won = False
try:
    won = len(open(f"{COURSE}/course.key", "rb").read()) > 0 or os.access(f"{COURSE}/course.key", os.R_OK)
except OSError:
    won = False
