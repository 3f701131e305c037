"""Looks for the kernel's shared memory and queues that another student left."""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
won = libc.shmget(4711, 64, 0) >= 0 or libc.msgget(4711, 0) >= 0 or libc.semget(4711, 1, 0) >= 0
