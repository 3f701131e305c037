"""Starts children that sleep, so that the time of a box is thought to be that of idle processes."""

import os
import time

for _ in range(3):
    if not os.fork():
        time.sleep(600)
        os._exit(0)
scores = slow
