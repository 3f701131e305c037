"""Boxes made by docker or podman: an empty image with the host's Python and libraries mounted read-only."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from autograder.api import Limits
from autograder.sandbox.base import INSIDE, SandboxError, environment, interpreter
from autograder.sandbox.bubblewrap import ETC, NOBODY, PACKAGES, hidden_folders, package_binds
from autograder.sandbox.cold import ColdBackend

IMAGE = "tfkit-box"
LINKS = ("bin", "sbin", "lib", "lib32", "lib64")


def empty_image() -> bytes:
    """A root file system with the host's top-level links and nothing else, as a tar archive."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in LINKS:
            if os.path.islink(f"/{name}"):
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(f"/{name}")
                archive.addfile(entry)
    return made.getvalue()


def binds(more: Sequence[str] = ()) -> dict[str, str]:
    """{place in the box: place on the host}, all to be read-only."""
    base = os.path.realpath(sys.base_prefix)
    shown = ["/usr"] if Path(base).is_relative_to("/usr") else ["/usr", base]
    shown += [f"/{name}" for name in LINKS if os.path.isdir(f"/{name}") and not os.path.islink(f"/{name}")]
    shown += [file for file in ETC if os.path.exists(file)]
    return {path: path for path in shown} | package_binds(more) | {"/inside": str(INSIDE)}


def hidden() -> list[str]:
    """Paths in the box that an empty folder covers: the project, and every other package."""
    return [path for path in hidden_folders(list(binds())) if not path.startswith(PACKAGES)]


class Docker(ColdBackend):
    """A container for each box, without network or capabilities; only memory is writable."""

    name = "docker"
    rank = 40
    engine = "docker"

    def command(self, name: str, limits: Limits, program: list[str]) -> list[str]:
        """`docker run` of the empty image with every restriction. Raises SandboxError if torch is not installed."""
        memory = f"{limits.memory_mb + 256}m"
        words = [self.engine, "run", "--rm", "--interactive", "--name", name, "--network", "none", "--read-only",
                 "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", f"{NOBODY}:{NOBODY}",
                 "--pids-limit", str(limits.processes + 3), "--memory", memory, "--memory-swap", memory,
                 "--shm-size", f"{self.scratch_mb}m", "--hostname", "box", "--workdir", "/box"]  # fmt: skip
        for path in ("/tmp", "/box"):
            words += ["--tmpfs", f"{path}:rw,nosuid,nodev,mode=1777,size={self.scratch_mb}m"]
        for inside, outside in binds(self.packages).items():
            words += ["--mount", f"type=bind,source={outside},target={inside},readonly"]
        for path in hidden():
            words += ["--tmpfs", f"{path}:ro,size=4k"]
        for key, value in environment().items():
            words += ["--env", f"{key}={value}"]
        return [*words, "--entrypoint", interpreter(), IMAGE, *program]

    def remove(self, name: str) -> list[str]:
        """`docker rm --force`, which ends the container first."""
        return [self.engine, "rm", "--force", name]

    def probe(self) -> None:
        """See `Backend.probe`; makes the empty image first. Raises SandboxError without the engine or its daemon."""
        if shutil.which(self.engine) is None:
            raise SandboxError(f"{self.name}: {self.engine} is not installed")
        self._run("version", "--format", "{{.Server.Version}}")
        self._run("import", "-", IMAGE, given=empty_image())
        super().probe()

    def _run(self, *words: str, given: bytes = b"") -> None:
        done = subprocess.run([self.engine, *words], input=given, capture_output=True)
        if done.returncode:
            errors = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise SandboxError(f"{self.name}: {errors[-1] if errors else f'{self.engine} {words[0]} failed'}")

    def describe(self) -> dict[str, str]:
        """See `Backend.describe`."""
        return {
            "backend": f"{self.engine}, an empty image",
            "network": "none",
            "filesystem": "torch, numpy, IPython and the system read-only; the project is not there; "
                          f"writes go to {self.scratch_mb} MB of memory that is freed with the box",
            "processes": f"sees only its own processes, which end with the box; {self.engine}'s system call filter",
            "memory": "RLIMIT_DATA, and the container's control group",
            "time": "a timer inside, a deadline outside, RLIMIT_CPU",
            "missing": "a warm start: each box imports torch anew, some seconds; no GPU",
        }  # fmt: skip


class Podman(Docker):
    """The same with podman, which needs no daemon."""

    name = "podman"
    rank = 50
    engine = "podman"


BACKENDS = (Docker, Podman)
