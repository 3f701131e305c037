"""Boxes made by Landlock and a system call filter, for machines that do not allow user namespaces."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

from autograder.sandbox.base import INSIDE, SandboxError, WarmBackend, interpreter, kill_group
from autograder.sandbox.bubblewrap import ETC, NOBODY, distributions, hidden_folders, package_binds, runs_as_root
from autograder.sandbox.inside import landlock

MEMORY = "/dev/shm"  # limited in size, and not a disk that others need


@lru_cache(maxsize=4)
def readable(more: tuple[str, ...] = ()) -> list[str]:
    """The paths that a box may read: Python, system libraries, torch and its dependencies, but not the project."""
    base = os.path.realpath(sys.base_prefix)
    roots = ["/usr", *([] if Path(base).is_relative_to("/usr") else [base])]
    hidden = [Path(path) for path in hidden_folders(roots)]
    places = [path for root in roots for path in _without(Path(root), hidden)]
    places += [top for top in ("/bin", "/lib", "/lib32", "/lib64") if os.path.isdir(top) and not os.path.islink(top)]
    return [*places, *ETC, *package_binds(more).values(), str(INSIDE)]


def _without(folder: Path, hidden: list[Path]) -> list[str]:
    """`folder`, or those of its parts that contain nothing hidden, since Landlock has no rule to deny a path."""
    if folder in hidden:
        return []
    if not any(path.is_relative_to(folder) for path in hidden):
        return [str(folder)]
    return [path for part in sorted(folder.iterdir()) for path in _without(part, hidden)]


class LandlockOnly(WarmBackend):
    """Allows no files but Python's, no sockets, and no signals to processes outside."""

    name = "landlock"
    rank = 60
    isolated = True
    isolate = "landlock"
    kill = staticmethod(kill_group)  # a box's processes are in its witness's group and cannot leave it

    def user(self) -> int | None:
        """The user `nobody`, if root grades and `nobody` can read Python; else None."""
        return NOBODY if os.geteuid() == 0 and not runs_as_root() else None

    def command(self, control: int, descriptors: list[int]) -> list[str]:
        """The command of the warm process. Raises SandboxError if Landlock is too old or torch is not installed."""
        if landlock.version() < landlock.NEEDED:
            raise SandboxError(f"landlock: the kernel has version {landlock.version()} of it, {landlock.NEEDED} is "
                               "needed (Linux 6.12, with landlock among its lsm=)")  # fmt: skip
        paths = sorted({str(one.locate_file("")) for one in distributions(self.packages)})
        return [interpreter(), "-I", "-S", "-B", str(INSIDE / "zygote.py"), str(control), json.dumps(paths),
                json.dumps(readable(self.packages))]  # fmt: skip

    def scratch(self) -> Path:
        """A new folder in memory, or else in the temporary folder, that the box's user owns."""
        folder = Path(tempfile.mkdtemp(prefix="box-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None))
        user = self.user()
        if user is not None:
            os.chown(folder, user, user)
        return folder

    def describe(self) -> dict[str, str]:
        """See `Backend.describe`."""
        return {
            "backend": f"Landlock {landlock.version()} and a system call filter",
            "network": "none: no socket can be made",
            "filesystem": "torch, numpy, IPython and the system can be read, the project and all else not; "
                          f"writes go to a folder in {MEMORY} that goes with the box",
            "processes": "signals only within the box; leftovers end with it; system calls filtered",
            "memory": "RLIMIT_DATA, and a control group where one can be made, else their sum is looked at",
            "time": "a timer inside, a deadline outside, RLIMIT_CPU",
            "missing": "names, sizes and times of files everywhere, and which processes run, can be asked for; "
                       f"a box can fill {MEMORY} while it runs; no GPU",
        }  # fmt: skip


BACKENDS = (LandlockOnly,)
