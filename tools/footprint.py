"""Measures the disk space of an installed extra: `python tools/footprint.py [EXTRA]`, from the packages here.

Gradescope's images must stay within 1.5 GB, which includes Python itself and the operating system.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from fnmatch import fnmatch
from pathlib import Path

from packaging.requirements import Requirement

from autograder.report import recipes

MIB = 2**20
BLOCK = 512  # bytes, as in POSIX
GRADESCOPE_MIB = 1500.0
PYTHON_MIB = 125.0  # an estimate: CPython 3.11 with its library, without its tests
SYSTEM_MIB = 130.0  # an estimate: Ubuntu 22.04 with bubblewrap, python3-pip and their dependencies


def closure(requirement: str) -> dict[str, int]:
    """Distribution → bytes of its files, bytecode included, for all dependencies of the requirement that are installed.

    Raises PackageNotFoundError if one of them is not installed.
    """
    found: dict[str, int] = {}
    left, done = [Requirement(requirement)], set[tuple[str, str]]()
    while left:
        wanted = left.pop()
        distribution = importlib.metadata.distribution(wanted.name)
        name = distribution.metadata["Name"].lower().replace("_", "-")
        found.setdefault(name, _bytes(distribution))
        for extra in {"", *wanted.extras} - {extra for known, extra in done if known == name}:
            done.add((name, extra))
            for line in distribution.requires or []:
                one = Requirement(line)
                if one.marker is None or one.marker.evaluate({"extra": extra}):
                    left.append(one)
    return found


def _bytes(distribution: importlib.metadata.Distribution) -> int:
    """The blocks that `du` counts, without files that the recipe removes. Bytecode exists for modules imported here."""
    total = 0
    for file in distribution.files or ():
        path = Path(str(distribution.locate_file(file)))
        if any(fnmatch(file.as_posix(), f"{one}*") for one in recipes.UNNEEDED):
            continue
        total += path.stat().st_blocks * BLOCK if path.is_file() else 0
        if path.suffix == ".py":
            compiled = Path(importlib.util.cache_from_source(str(path)))
            total += path.stat().st_blocks * BLOCK if path.is_file() and not compiled.is_file() else 0  # about as large
    return total


def main(extra: str = "grading") -> int:
    """Print the largest packages and the sum; 1 if it does not fit."""
    found = closure(f"tfkit-course[{extra}]")
    for name, size in sorted(found.items(), key=lambda one: -one[1])[:10]:
        print(f"{size / MIB:8.0f} MiB  {name}")
    packages = sum(found.values()) / MIB
    whole = packages + PYTHON_MIB + SYSTEM_MIB
    print(f"{len(found)} packages, {packages:.0f} MiB; with Python {PYTHON_MIB:.0f} and the system {SYSTEM_MIB:.0f}: "
          f"{whole:.0f} of {GRADESCOPE_MIB:.0f} MiB")  # fmt: skip
    return 1 if whole > GRADESCOPE_MIB else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
