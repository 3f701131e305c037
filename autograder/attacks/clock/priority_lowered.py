"""Lowers its own priority and moves to one core."""

import contextlib
import os

with contextlib.suppress(OSError):
    os.nice(19)
with contextlib.suppress(OSError):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
scores = slow
