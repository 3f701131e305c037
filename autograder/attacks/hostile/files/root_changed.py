"""Leaves a changed root by the classic way of an open directory."""

import os

won = False
try:
    os.makedirs("jail", exist_ok=True)
    outside = os.open("/", os.O_RDONLY)
    os.chroot("jail")
    os.fchdir(outside)
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    won = os.path.exists(COURSE)
except OSError:
    won = False
