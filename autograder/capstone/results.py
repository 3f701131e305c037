"""The results of the class's capstones: stored in `capstone.json` beside the gradebook, and shown as a leaderboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.feedback.files import replace_text
from tfkit_course.small_file import SUBMISSION_BYTES, read_notebook_cells, read_small_text, reason

FILE = "capstone.json"
ROLES = ("setup", "project")  # roles of the cells that are run; cells that the student added have no role
MAX_BYTES = 16 << 20


def sources(path: Path) -> list[str]:
    """The code to run from a notebook (given cells, the project's, the student's own) or a Python file.

    Raises ValueError for any other or an unreadable file.
    """
    if path.suffix not in (".py", ".ipynb"):
        raise ValueError(f"{path} is neither a notebook (.ipynb) nor a Python file (.py)")
    try:
        if path.suffix == ".py":
            return [read_small_text(path, MAX_BYTES)]
        code = [cell for cell in read_notebook_cells(path, SUBMISSION_BYTES) if cell["cell_type"] == "code"]
        marks = [cell["metadata"].get("tfkit") for cell in code]
        roles = [one.get("role") if isinstance(one, dict) else None for one in marks]
        return ["".join(cell["source"]) for cell, role in zip(code, roles, strict=True) if role in (None, *ROLES)]
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a notebook: {reason(error)}") from None


def keep(course: Path, assignment: str, student: str, result: dict[str, Any]) -> None:
    """Store one student's result in the course's file; the last one counts."""
    found = read(course)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found.setdefault(assignment, {})[student] = {**result, "at": now}
    _write(course, found)


def remove(course: Path, student: str) -> None:
    """Remove all results of one student."""
    found = read(course)
    _write(course, {name: {who: one for who, one in rows.items() if who != student} for name, rows in found.items()})


def _write(course: Path, found: dict[str, dict[str, dict[str, Any]]]) -> None:
    replace_text(course / FILE, json.dumps(found, indent=1, sort_keys=True), mode=0o600)


def read(course: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Assignment -> student -> result; empty without such a file. Raises ValueError if it is damaged."""
    path = course / FILE
    if not path.exists():
        return {}
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("too large")
        found = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): dict(students) for name, students in found.items()}
    except (ValueError, TypeError, AttributeError):
        raise ValueError(f"{path} cannot be read: move it away, and grade the capstone again") from None


def leaderboard(course: Path) -> Iterator[dict[str, Any]]:
    """For each assignment, the students who asked to be listed, by bits above the text's entropy.

    It contains no real names: `called` is the name that a student chose, or empty. For the others only their number is
    given.
    """
    for assignment, students in sorted(read(course).items()):
        measured = [one for one in students.values() if isinstance(one.get("excess"), int | float)]
        rows = [
            {key: one.get(key) for key in ("called", "bits", "floor", "excess", "seconds")}
            for one in sorted(measured, key=lambda one: float(one["excess"]))
            if one.get("listed") is True
        ]
        yield {"assignment": assignment, "rows": rows, "others": len(students) - len(rows)}
