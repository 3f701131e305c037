"""Looks for the library under every place of the import path, zip files and caches included."""

import pathlib
import sys

found = [path for place in {*sys.path, "/", "/usr/lib/python3"} if place
         for path in pathlib.Path(place).glob("*/nn/recurrent*") if "tfkit" in str(path)]
won = bool(found)
