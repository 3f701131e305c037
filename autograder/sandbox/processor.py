"""Processor time of a process and its descendants, from /proc, for systems where no control group counts it."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.sandbox.inside.memory import descendants

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100  # a second; Windows has neither it nor /proc


def cpu_s(pid: int) -> float:
    """Seconds, including those of ended children; 0 if the process is gone or there is no /proc."""
    try:
        proc = os.open("/proc", os.O_RDONLY)
    except OSError:
        return 0.0
    try:
        return sum(map(_ticks, [pid, *descendants(proc, pid)])) / TICKS
    finally:
        os.close(proc)


def _ticks(pid: int) -> int:
    try:
        behind_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except OSError:
        return 0  # it ended
    return sum(map(int, behind_name.split()[11:15]))  # its own and its children's, user and system
