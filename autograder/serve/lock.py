"""A lock that says that a course is served. It keeps nobody out: `autograder status` asks whether somebody has it."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

LOCK = "serve.lock"
TRIES, WAIT_S = 10, 0.05  # while `autograder status` looks


def acquire(root: Path) -> int | None:
    """Take the lock, and return its open file; the kernel releases it when this process ends, however it does.

    None if it cannot be taken, and then `autograder status` does not know that the course is served: the file is of
    another account, the folder is read-only, or another service has the course already.
    """
    try:
        handle = _open(root / LOCK)
    except OSError:
        return None
    for _ in range(TRIES):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except BlockingIOError:
            time.sleep(WAIT_S)
        except OSError:  # a file system without locks
            break
    os.close(handle)
    return None


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)  # less the umask: who may read the course may ask
    except PermissionError:
        return os.open(path, os.O_RDONLY)  # enough for a lock on a local disk


def is_held(root: Path) -> bool | None:
    """Whether a service has the course, on this machine or on one that shares its disk; None if nobody can tell.

    A shared lock asks: two who ask at once do not take each other for the service.
    """
    try:
        handle = os.open(root / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(handle)
