"""Makes itself root in namespaces of its own, a step to most kernel exploits."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
won = any(libc.unshare(flag) == 0 for flag in (0x10000000, 0x20000, 0x40000000, 0x10000000 | 0x20000))
for uid in (0,):
    try:
        os.setuid(uid)
        os.setgroups([0])
        won = True
    except OSError:
        continue
