"""Fills every disk that it can write to.

If it wins: the machine's temporary folders are filled.
"""

import os

written = 0
for place in (os.getcwd(), "/tmp", "/dev/shm", "/box", "/var/tmp", COURSE):
    try:
        for n in range(64):
            with open(f"{place}/filler-{n}", "wb") as file:
                for _ in range(16):
                    written += file.write(bytes(4 << 20))
    except OSError:
        continue
won = written > 2 << 30
