"""Control groups where the caller may create them: version 2 (delegated, or root), else version 1 (root), else none."""

from __future__ import annotations

import io
import os
import secrets
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


def _mounts() -> dict[str, str]:
    """Mount points by controller; version 2 under `unified`."""
    found: dict[str, str] = {}
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, path, kind, options, *_ = line.split()
        if kind == "cgroup2":
            found["unified"] = path
        elif kind == "cgroup":
            found.update({c: path for c in options.split(",") if c in ("memory", "pids", "cpuacct")})
    return found


def _own(controller: str) -> str:
    """This process's control group, as a path under the controller's mount point."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, names, path = line.split(":", 2)
        if (controller == "unified" and number == "0") or controller in names.split(","):
            return path.rstrip("/")
    return ""


@dataclass
class ResourceUsage:
    """Resources used: processor seconds of all processes, peak bytes above those in use before, and how many bytes of
    its own the group held before."""

    cpu_s: float = 0.0
    grown_bytes: int = 0
    held_bytes: int = 0


class Group:
    """Limits and counts for one box. Where no group could be made, every method works but counts nothing."""

    def __init__(self, *, memory: int, processes: int) -> None:
        self.folders: dict[str, Path] = {}
        self.kind = ""
        name, mounts = f"box-{os.getpid()}-{secrets.token_hex(4)}", _mounts()
        if "unified" in mounts and self._make("unified", mounts, name):
            self.kind = "v2" if (self.folders["unified"] / "memory.max").exists() else ""
        if not self.kind:
            self.close()
            made = [self._make(c, mounts, name) for c in ("memory", "pids", "cpuacct") if c in mounts]
            self.kind = "v1" if {"memory", "pids"} <= set(self.folders) and all(made) else ""
        if not self.kind:
            self.close()
            return
        self._limit(memory, processes)

    def _make(self, controller: str, mounts: dict[str, str], name: str) -> bool:
        folder = Path(mounts[controller] + _own(controller)) / name
        try:
            folder.mkdir()
        except OSError:
            return False
        self.folders[controller] = folder
        return True

    def _limit(self, memory: int, processes: int) -> None:
        if self.kind == "v2":
            folder = self.folders["unified"]
            settings = {folder / "memory.max": memory, folder / "memory.swap.max": 0, folder / "memory.oom.group": 1,
                        folder / "pids.max": processes}  # fmt: skip
        else:
            folder = self.folders["memory"]
            settings = {folder / "memory.limit_in_bytes": memory, folder / "memory.memsw.limit_in_bytes": memory,
                        self.folders["pids"] / "pids.max": processes}  # fmt: skip
        for path, value in settings.items():
            if path.exists():  # swap accounting is often compiled out
                path.write_text(str(value))

    def add(self, pid: int) -> None:
        """Moves a process of the host into the group; its children follow. Raises OSError if it is gone."""
        for folder in self.folders.values():
            (folder / "cgroup.procs").write_text(str(pid))

    def _number(self, v2: str, controller: str, v1: str) -> int:
        if not self.kind:
            return 0
        path = self.folders["unified"] / v2 if self.kind == "v2" else self.folders.get(controller, Path("/")) / v1
        try:
            return int(path.read_text())
        except OSError:
            return 0

    def _field(self, v2: str, controller: str, v1: str, field: str) -> int:
        if not self.kind:
            return 0
        path = self.folders["unified"] / v2 if self.kind == "v2" else self.folders[controller] / v1
        try:
            return int(dict(line.split()[:2] for line in path.read_text().splitlines()).get(field, 0))
        except OSError:
            return 0

    def peak_bytes(self) -> int:
        """The most memory that the group held at once; 0 if nothing counts it."""
        return self._number("memory.peak", "memory", "memory.max_usage_in_bytes")

    def cpu_s(self) -> float:
        """Processor seconds of all its processes, the ended ones too; 0 if nothing counts them."""
        if self.kind == "v2":
            return self._field("cpu.stat", "", "", "usage_usec") / 1e6
        return self._number("", "cpuacct", "cpuacct.usage") / 1e9

    @contextmanager
    def measure(self) -> Iterator[ResourceUsage]:
        """Yields a `ResourceUsage` that holds, after the block, what the group used inside it; 0 if nothing counts it.

        A kernel that cannot reset an earlier peak (version 2 before Linux 6.12) shows only memory above that peak.
        """
        spent = ResourceUsage()
        with self._peak() as peak:
            held, own, cpu, before = self._held_bytes(), self._own_bytes(), self.cpu_s(), _read_number(peak)
            fresh = _forget(peak)
            yield spent
            after = _read_number(peak)
            spent.cpu_s, spent.held_bytes = self.cpu_s() - cpu, own
            spent.grown_bytes = max(0, after - held) if fresh or after > before else 0

    @contextmanager
    def _peak(self) -> Iterator[io.FileIO | None]:
        """The open file with the peak; a reset holds for the descriptor that it was written to (version 2)."""
        name, controller = {"v2": ("memory.peak", "unified"), "v1": ("memory.max_usage_in_bytes", "memory")}.get(
            self.kind, ("", "")
        )
        path = self.folders[controller] / name if name else None
        if path is None or not path.exists():
            yield None
            return
        with _opened(path) as file:
            yield file

    def _held_bytes(self) -> int:
        return self._number("memory.current", "memory", "memory.usage_in_bytes")

    def _own_bytes(self) -> int:
        """What its processes wrote: without the pages of files, which are charged to whoever read them first."""
        names = ("anon", "shmem") if self.kind == "v2" else ("rss", "shmem")
        return sum(self._field("memory.stat", "memory", "memory.stat", name) for name in names)

    def oom_kills(self) -> int:
        """How many of its processes the kernel killed for lack of memory."""
        return self._field("memory.events", "memory", "memory.oom_control", "oom_kill")

    def _processes(self) -> list[int]:
        folder = self.folders.get("unified") or self.folders.get("pids")
        try:
            return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()] if folder else []
        except OSError:
            return []

    def close(self) -> None:
        """Kills what is left in the group and removes it."""
        for _ in range(500):
            left = self._processes()
            for pid in left:
                _kill(pid)
            if not left:
                break
            time.sleep(0.002)
        for folder in self.folders.values():
            _remove(folder)
        self.folders = {}
        self.kind = ""


class NoCgroup(Group):
    """Limits and counts nothing."""

    def __init__(self) -> None:
        self.folders = {}
        self.kind = ""


def _opened(path: Path) -> io.FileIO:
    try:
        return io.FileIO(path, "r+")
    except OSError:  # this kernel only lets it be read
        return io.FileIO(path, "r")


def _read_number(file: io.FileIO | None) -> int:
    if file is None:
        return 0
    file.seek(0)
    return int(file.read(64) or 0)


def _forget(file: io.FileIO | None) -> bool:
    """Reset the peak that `file` shows; whether the kernel could."""
    try:
        return file is not None and file.write(b"0") == 1
    except OSError:
        return False


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # the process ended first


def _remove(folder: Path) -> None:
    for _ in range(250):
        try:
            folder.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:  # busy until the kernel has reaped the last process
            time.sleep(0.002)
