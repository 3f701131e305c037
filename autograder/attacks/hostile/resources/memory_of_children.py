"""Takes memory in many processes, each below its own limit.

If it wins: the machine runs out of memory.
"""

import os
import time

for _ in range(12):
    if os.fork() == 0:
        piece = bytearray(os.urandom(1 << 20)) * 200
        time.sleep(1000)
time.sleep(1.5)
won = False
