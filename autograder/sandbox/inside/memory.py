"""The memory of all processes of a box, measured from outside, for systems where no control group counts it."""

from __future__ import annotations

import os

FIELDS = ("Pss_Anon:", "Pss_Shmem:")  # counts a shared page once; pages of files are not counted


def _lines(proc: int, path: str) -> list[str]:
    """The lines of a file below the open folder `proc`. It is kept open because a box mounts its own /proc over it."""
    try:
        with open(os.open(path, os.O_RDONLY, dir_fd=proc)) as file:
            return file.readlines()
    except OSError:
        return []  # the process ended, or is ending


def descendants(proc: int, pid: int) -> list[int]:
    """Every process below `pid`. A process that a thread forked is listed with that thread alone."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        lines = [line for thread in _threads(proc, parent) for line in _lines(proc, f"{parent}/task/{thread}/children")]
        children = [int(word) for line in lines for word in line.split()]
        found += children
        waiting += children
    return found


def _threads(proc: int, pid: int) -> list[str]:
    try:
        folder = os.open(f"{pid}/task", os.O_RDONLY | os.O_DIRECTORY, dir_fd=proc)
    except OSError:
        return []  # the process ended
    try:
        return os.listdir(folder)
    except OSError:
        return []  # it is ending
    finally:
        os.close(folder)


def memory_bytes(proc: int, pids: list[int]) -> int:
    """Bytes of private and shared memory of these processes together."""
    lines = (line for pid in pids for line in _lines(proc, f"{pid}/smaps_rollup"))
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(FIELDS))
