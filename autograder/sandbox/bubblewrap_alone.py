"""Bubblewrap where control groups cannot be made, as for most users of a shared machine."""

from __future__ import annotations

from autograder.api import Limits
from autograder.sandbox.base import WarmBackend
from autograder.sandbox.bubblewrap import Bubblewrap
from autograder.sandbox.cgroup import Group, NoCgroup


class BubblewrapOnly(Bubblewrap):
    """Bubblewrap without control groups: a process outside each box adds up its memory, and memory that belongs to no
    process is refused."""

    name = "bubblewrap-alone"
    rank = 20

    def group(self, limits: Limits) -> Group:
        """No control group: the witness adds up the memory of the box's processes."""
        return NoCgroup()

    def launch(self) -> None:
        """See `Backend.launch`; no control group is needed."""
        WarmBackend.launch(self)

    def describe(self) -> dict[str, str]:
        """As Bubblewrap's, without the control groups."""
        return super().describe() | {
            "memory": "RLIMIT_DATA for each process, their sum is sampled ten times a second; shared memory is refused",
            "missing": "control groups: between two samples a box may exceed its limit",
        }


BACKENDS = (BubblewrapOnly,)
