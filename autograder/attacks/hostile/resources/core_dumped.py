"""Crashes with as much memory as it can, to leave it on the disk.

If it wins: the memory of a process is left on the disk.
"""

import ctypes
import resource
from contextlib import suppress

with suppress(OSError, ValueError):  # only root may raise a limit
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
kept = bytearray(1 << 27)
ctypes.string_at(0)
