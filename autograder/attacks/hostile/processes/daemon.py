"""Leaves a daemon with a session of its own behind."""

import os
import sys
import time
from contextlib import suppress

if os.fork() == 0:
    with suppress(OSError):  # refused in some boxes
        os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable or "/usr/bin/sleep", ["left-behind", "-I", "-S", "-c", "import time; time.sleep(1000)"])
    os._exit(0)
time.sleep(0.1)
won = False
