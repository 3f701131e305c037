"""Leaves shared memory, queues and semaphores of the kernel for the next student, and looks for earlier ones.

If it wins: shared memory, a queue and semaphores stay in the kernel.
"""

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
won = libc.shmget(4711, 64, 0) >= 0 or libc.msgget(4711, 0) >= 0 or libc.semget(4711, 1, 0) >= 0
for make in (lambda: libc.shmget(4711, 64, 0o1666), lambda: libc.msgget(4711, 0o1666),
             lambda: libc.semget(4711, 1, 0o1666)):
    make()
