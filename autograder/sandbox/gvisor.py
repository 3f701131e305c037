"""Boxes made by gVisor's runsc: its own kernel answers system calls, so that they don't reach the host's kernel."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from autograder.api import Limits
from autograder.sandbox.base import SandboxError, environment, interpreter
from autograder.sandbox.cgroup import Group
from autograder.sandbox.cold import ColdBackend
from autograder.sandbox.container import LINKS, binds, hidden


class GVisor(ColdBackend):
    """Writes an OCI bundle for each box into a folder of its own; runs rootless, so the grader needs no privileges."""

    name = "gvisor"
    rank = 30

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def command(self, name: str, limits: Limits, program: list[str]) -> list[str]:
        """Writes a bundle and returns `runsc run` for it. Raises SandboxError if torch is not installed."""
        bundle = Path(self._home()) / name
        root = bundle / "root"
        root.mkdir(parents=True)
        for link in LINKS:
            if os.path.islink(f"/{link}"):
                (root / link).symlink_to(os.readlink(f"/{link}"))
        (bundle / "config.json").write_text(json.dumps(self.bundle(limits, program)), encoding="utf-8")
        return [*self._runsc(), "run", "--bundle", str(bundle), name]

    def bundle(self, limits: Limits, program: list[str]) -> dict[str, Any]:
        """The container's configuration in the format of the OCI runtime specification."""
        quick = ["nosuid", "nodev", "mode=1777", f"size={self.scratch_mb}m"]
        mounts = [{"destination": "/proc", "type": "proc", "source": "proc"}]
        mounts += [_mount(path, "bind", source, ["rbind", "ro"]) for path, source in binds(self.packages).items()]
        mounts += [_mount(path, "tmpfs", "tmpfs", quick) for path in ("/tmp", "/box", "/dev/shm")]
        mounts += [_mount(path, "tmpfs", "tmpfs", ["ro", "size=4k"]) for path in hidden()]
        nothing: dict[str, list[str]] = {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted")}
        limit = {"type": "RLIMIT_NPROC", "hard": limits.processes, "soft": limits.processes}
        process = {"user": {"uid": 0, "gid": 0}, "args": [interpreter(), *program], "cwd": "/box",
                   "env": [f"{key}={value}" for key, value in environment().items()], "capabilities": nothing,
                   "rlimits": [limit], "noNewPrivileges": True}  # fmt: skip
        namespaces = [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]
        return {"ociVersion": "1.0.0", "process": process, "root": {"path": "root", "readonly": True},
                "hostname": "box", "mounts": mounts, "linux": {"namespaces": namespaces}}  # fmt: skip

    def remove(self, name: str) -> list[str]:
        """`runsc delete --force`, which ends the box first."""
        return [*self._runsc(), "delete", "--force", name]

    def group(self, limits: Limits) -> Group:
        """A control group around runsc, because a rootless runsc makes none."""
        return Group(memory=(limits.memory_mb + 512) << 20, processes=1024)  # these include gVisor's own threads

    def _runsc(self) -> list[str]:
        return ["runsc", "--rootless", "--network=none", "--ignore-cgroups", f"--root={self._home()}/state"]

    def _home(self) -> str:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="gvisor-")
        return self._folder.name

    def probe(self) -> None:
        """See `Backend.probe`; also raises SandboxError if there is no runsc."""
        if shutil.which("runsc") is None:
            raise SandboxError("gvisor: runsc is not installed")
        super().probe()

    def close(self) -> None:
        """Removes the bundles of its boxes."""
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None

    def describe(self) -> dict[str, str]:
        """See `Backend.describe`."""
        return {
            "backend": f"gVisor ({shutil.which('runsc')})",
            "network": "none",
            "filesystem": "torch, numpy, IPython and the system read-only; the project is not there; "
                          f"writes go to {self.scratch_mb} MB of memory that is freed with the box",
            "processes": "a kernel of its own; leftovers end with the box",
            "memory": "RLIMIT_DATA for each process, and a control group where one can be made",
            "time": "a timer inside, a deadline outside, RLIMIT_CPU",
            "missing": "a warm start: each box imports torch anew, some seconds; no GPU; without control groups memory "
                       "that processes share is not bounded",
        }  # fmt: skip


def _mount(path: str, kind: str, source: str, options: list[str]) -> dict[str, Any]:
    return {"destination": path, "type": kind, "source": source, "options": options}


BACKENDS = (GVisor,)
