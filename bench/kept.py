"""Figures that a benchmark stores as soon as it has measured them, so that a run that was cut short goes on.

A file has a line of JSON for each row: its name, when and where it was measured, of which commit, how long that took
and how busy the machine was. Only rows of the same code, versions, settings and machine are taken for one's own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
MEASURED = ("tfkit", "bench")  # the folders whose code is measured, or measures, unless a benchmark names others
Row = dict[str, Any]


def git(folder: Path, *words: str) -> str:
    """What git prints; empty outside of a checkout, or without git."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.decode(errors="replace")


def changes(folders: Sequence[str], root: Path = ROOT) -> str:
    """What differs from the commit in these folders: the diff, then name and hash of each new file that git does not
    ignore, which a diff does not show. Empty outside of a checkout."""
    listed = git(root, "ls-files", "--others", "--exclude-standard", "-z", "--", *folders).split("\0")
    new = [f"{name} {hashlib.sha256((root / name).read_bytes()).hexdigest()}\n"
           for name in listed if (root / name).is_file()]  # fmt: skip
    return git(root, "diff", "HEAD", "--", *folders) + "".join(new)


def commit(folders: Sequence[str], root: Path = ROOT) -> str:
    """The commit of a checkout in twelve digits, and whether something in these folders has changed since. Empty
    outside of one."""
    head = git(root, "rev-parse", "HEAD").strip()[:12]
    return f"{head} with changes" if head and changes(folders, root) else head


def code(folders: Sequence[str], root: Path = ROOT) -> str:
    """A hash of what is in these folders, the same for all commits that have it. Empty outside of a checkout."""
    trees = git(root, "ls-tree", "HEAD", "--", *folders)
    return hashlib.sha256(f"{trees}{changes(folders, root)}".encode()).hexdigest()[:12] if trees else ""


def processor() -> str:
    """What the processor is called."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def installed(package: str) -> str | None:
    """The version of a package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def environment(folders: Sequence[str] = MEASURED, **settings: Any) -> Row:
    """What figures depend on: the code in these folders, versions, the machine, and the benchmark's own settings."""
    return {
        "folders": list(folders),
        "code": code(folders),
        "torch": torch.__version__,
        "transformers": installed("transformers"),
        "machine": platform.node(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        **settings,
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a benchmark that stores its rows."""
    parser.add_argument(
        "--kept",
        type=Path,
        metavar="FILE",
        help="store each row here as soon as it is measured; by default under build/, called after what is measured",
    )
    parser.add_argument("--resume", action="store_true", help="skip rows that this code has stored on this machine")


def kept_file(
    benchmark: str, options: argparse.Namespace, sizes: Iterable[str] = (), flags: Iterable[str] = ()
) -> Path:
    """Where rows are stored unless `--kept` says it. The name has those of the sizes that were chosen, in their order,
    and the flags that are set: a run of some rows, or with other settings, replaces no other's."""
    chosen = [name for name in sizes if name in options.names]
    words = ["bench", benchmark, *chosen, *(flag for flag in flags if getattr(options, flag))]
    file: Path = options.kept or Path("build") / f"{'-'.join(words)}.jsonl"
    return file


def stored(file: Path) -> list[Row]:
    """All rows of a file, if there is one. A line that was cut short is left out, and named."""
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines() if file.exists() else (), 1):
        try:
            found.append(json.loads(line))
        except ValueError:
            print(f"{file}, line {number} was cut short and is left out", file=sys.stderr)
    return found


def saved(file: Path, here: Row) -> dict[str, Row]:
    """Name → what was stored of a row in this environment, the last of several; nothing where the code is not known."""
    return {one["name"]: one for one in stored(file) if one.get("here") == here} if here["code"] else {}


def forget(file: Path, here: Row) -> None:
    """Take the rows of this environment out of a file, which may have those of other settings too."""
    if others := [one for one in stored(file) if "here" in one and one["here"] != here]:
        new = file.with_name(f"{file.name}.new")
        new.write_text("".join(f"{json.dumps(one)}\n" for one in others), encoding="utf-8")
        new.replace(file)
    else:
        file.unlink(missing_ok=True)


def keep(file: Path, one: Row) -> None:
    """Append a row, in a line of its own also where the last one was cut short."""
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_bytes() if file.exists() else b""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(("\n" if before and not before.endswith(b"\n") else "") + json.dumps(one) + "\n")


def measured(name: str, here: Row, measure: Callable[[], Any]) -> Row:
    """A row: what `measure` found, when, how long it took, and how busy the machine was."""
    began, told = time.monotonic(), commit(here["folders"])
    found = measure()
    load = round(os.getloadavg()[1], 1) if hasattr(os, "getloadavg") else None  # not on Windows
    return {"name": name, "date": date.today().isoformat(), "commit": told, "here": here, "found": found,
            "seconds": round(time.monotonic() - began), "load": load}  # fmt: skip


class KeptRows:
    """The rows of one run: those that are stored are not measured again if `resume`; otherwise they begin anew, and
    those of other settings stay."""

    def __init__(self, file: Path, here: Row, resume: bool) -> None:
        self.file, self.here = file, here
        if not resume:
            forget(file, here)
        self.rows = saved(file, here)

    def row(self, name: str, measure: Callable[[], Any]) -> Row:
        """The row of this name, measured and stored unless it is there."""
        if name not in self.rows:
            self.rows[name] = measured(name, self.here, measure)
            keep(self.file, self.rows[name])
            print(f"  {name}: {self.rows[name]['seconds']} s", file=sys.stderr, flush=True)
        return self.rows[name]


def told(rows: Iterable[Row], here: Row) -> str:
    """When and where rows were measured, and of which commit, for a page."""
    rows = list(rows)
    dates = " and ".join(sorted({one["date"] for one in rows}))
    commits = " and ".join(sorted({f"commit {one['commit']}" for one in rows if one["commit"]})) or "no commit"
    threads = f"{here['threads']} thread{'s' if here['threads'] != 1 else ''}"
    loads = sorted({one["load"] for one in rows} - {None})
    load = f", at load {loads[0]}" + (f" to {loads[-1]}" if len(loads) > 1 else "") if loads else ""
    return (
        f"{dates}: {commits}, torch {here['torch']}, transformers {here['transformers']}, {threads}, "
        f"{here['processor']}, {here['cores']} cores{load}"
    )
