"""A plain subprocess: limits on memory and time, no isolation. For code that the grader trusts."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from autograder.sandbox.base import INSIDE, WarmBackend, interpreter, kill_group
from autograder.sandbox.packages import package_paths


class Subprocess(WarmBackend):
    """NOT ISOLATED: the code can read files, use the network and leave processes behind."""

    name = "subprocess"
    isolated = False
    cards = True
    kill = staticmethod(kill_group)  # also ends processes left behind, unless they made a session of their own

    def command(self, control: int, descriptors: list[int]) -> list[str]:
        """The plain command of the warm process. Raises SandboxError if torch, numpy or IPython is not installed."""
        paths = json.dumps(package_paths())
        return [interpreter(), "-I", "-S", "-B", str(INSIDE / "zygote.py"), str(control), paths]

    def scratch(self) -> Path:
        """A new folder in the system's temporary folder."""
        return Path(tempfile.mkdtemp(prefix="box-"))

    def describe(self) -> dict[str, str]:
        """See `Backend.describe`."""
        return {
            "backend": "subprocess, NOT ISOLATED",
            "network": "open",
            "filesystem": "open",
            "processes": "open; what makes a session of its own goes on running",
            "memory": "RLIMIT_DATA, and a control group where one can be made",
            "time": "a timer inside, a deadline outside",
            "missing": "isolation: only for code that you trust",
        }


BACKENDS = (Subprocess,)
