"""Bubblewrap where control groups cannot be made, as for most users of a shared machine."""

from __future__ import annotations

from autograder.api import Limits
from autograder.sandbox.base import WarmBackend
from autograder.sandbox.bubblewrap import Bubblewrap
from autograder.sandbox.cgroup import Group, NoGroup


class BubblewrapAlone(Bubblewrap):
    """As Bubblewrap; a process outside each box adds up its memory, and memory of no process cannot be had."""

    name = "bubblewrap-alone"
    rank = 20

    def group(self, limits: Limits) -> Group:
        """None: the witness adds up what the box's processes hold."""
        return NoGroup()

    def probe(self) -> None:
        """As every backend's: it needs no control group."""
        WarmBackend.probe(self)

    def describe(self) -> dict[str, str]:
        """As Bubblewrap's, less the control groups."""
        return super().describe() | {
            "memory": "RLIMIT_DATA for each process; their sum is looked at ten times a second; no memory without one",
            "missing": "control groups: between two looks a box may take more than it should",
        }


BACKENDS = (BubblewrapAlone,)
