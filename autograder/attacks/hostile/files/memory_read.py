"""Reads the memory of the grader, of the machine, and its disks."""

import os
import pathlib

won = False
parent = [] if os.getppid() == 1 else [f"/proc/{os.getppid()}/mem"]  # a box's own first process is no prize
places = parent + [f"/proc/{VICTIM}/mem", "/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port"]
for place in places + [str(p) for p in pathlib.Path("/dev").glob("[svn][dv][a-z]*")]:
    try:
        open(place, "rb").close()
        won |= "nvidia" not in place
    except OSError:
        continue
