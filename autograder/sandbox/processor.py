"""Processor time of a box's processes, from /proc, for systems where no control group counts it."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.sandbox.inside.memory import descendants

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100  # a second; Windows has neither it nor /proc
NANO = 1e-9


def cpu_s(pid: int) -> float:
    """Seconds of all processes below `pid`, including ended ones; 0 if `pid` is gone or there is no /proc.

    What `pid` itself uses is left out: it is the grader's own process, which looks at the box's memory.
    """
    try:
        proc = os.open("/proc", os.O_RDONLY)
    except OSError:
        return 0.0
    try:
        ended = _ticks(pid)[1]  # first: a process that ends meanwhile is counted once, as a child that runs
        return ended + sum(map(_seconds, descendants(proc, pid)))
    finally:
        os.close(proc)


def _seconds(pid: int) -> float:
    """Of one process with its threads, and of its children that ended."""
    own, ended = _ticks(pid)
    return max(own, _scheduled(pid)) + ended


def _ticks(pid: int) -> tuple[float, float]:
    """Seconds of a process and of its ended children, both rounded down to a hundredth; zeros if it is gone."""
    try:
        behind_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except OSError:
        return 0.0, 0.0
    user, system, users, systems = map(int, behind_name.split()[11:15])
    return (user + system) / TICKS, (users + systems) / TICKS


def _scheduled(pid: int) -> float:
    """Seconds of a process's living threads, exactly; 0 where the kernel does not say."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return NANO * sum(map(_nanoseconds, files))


def _nanoseconds(schedstat: Path) -> int:
    try:
        return int(schedstat.read_text().split()[0])
    except (OSError, IndexError):
        return 0  # the thread ended
