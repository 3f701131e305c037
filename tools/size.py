"""`python -m tools.size`: the lines of Python that an installation has, by package, without lessons and answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = {  # as pyproject.toml's wheel has them
    "autograder": "autograder",
    "course": "course",
    "tfkit": "tfkit",
    "tfkit_course": "tfkit_course",
    "tfkit_lab": "extension/tfkit_lab",
}
# lessons and answers, and what attackers hand in
LEFT_OUT = {"units", "hostile", "clock", "node_modules", "labextension"}


def lines_of(root: Path = ROOT) -> dict[str, int]:
    """Package -> lines of its Python files, blank ones and comments included."""
    return {
        package: sum(
            len(file.read_text(encoding="utf-8").splitlines())
            for file in (root / folder).rglob("*.py")
            if not LEFT_OUT & set(file.relative_to(root).parts)
        )
        for package, folder in PACKAGES.items()
    }


def table(lines: Mapping[str, int]) -> str:
    """A line for each package, and their sum."""
    rows = [*lines.items(), ("in all", sum(lines.values()))]
    return "\n".join(f"{package:14}{count:8,}" for package, count in rows)


if __name__ == "__main__":
    print(table(lines_of()))
