"""Becomes another program that keeps the channel."""

import os
import sys

os.set_inheritable(200, True)
os.execv(os.path.realpath(sys.executable or "/usr/bin/sleep"), ["python", "-I", "-S", "-c", "while True: pass"])
