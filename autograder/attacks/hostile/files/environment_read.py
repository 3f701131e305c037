"""Reads secrets from the environment of other processes."""

import os
import pathlib

won = "SECRET_OF_THE_GRADER" in os.environ
for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
    try:
        won |= b"SECRET_OF_THE_GRADER" in path.read_bytes()
    except OSError:
        continue
