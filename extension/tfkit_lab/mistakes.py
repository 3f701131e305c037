"""A student's first mistake of a day in each exercise, with its code: the end of a unit shows what it does to a model.

It stays in `.tfkit/mistakes.json` in the student's own folder and is never copied for the class. Imports no torch.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from autograder.feedback.files import replace_json
from tfkit_course.small_file import read_small_json

MISTAKES = Path(".tfkit") / "mistakes.json"
MAX_BYTES = 8 << 20
MAX_CODE = 20_000  # characters of an answer; a longer one is not kept
_keeping = threading.Lock()  # checks end in several threads


@dataclass(frozen=True)
class Mistake:
    """A wrong answer to an exercise: the name of its misconception, and the student's cell."""

    exercise: str
    misconception: str
    code: str


def keep(root: Path, verdict: Mapping[str, Any], cells: Iterable[Mapping[str, Any]], day: date | None = None) -> None:
    """Keep the cell of a failed check, if its misconception is known and it is the exercise's first one on this day.

    cells: those that were checked; the last one with the exercise's mark counts. Raises OSError if the folder cannot be
    written.
    """
    exercise, misconception = verdict["exercise"], verdict.get("misconception")
    code = _cell_of(exercise, cells)
    if verdict["status"] != "failed" or not misconception or not 0 < len(code) <= MAX_CODE:
        return
    with _keeping:
        found, today = _read(root), (day or date.today()).isoformat()
        if found.get(exercise, {}).get("day") != today:
            found[exercise] = {"day": today, "misconception": misconception, "code": code}
            (root / MISTAKES).parent.mkdir(exist_ok=True)
            replace_json(root / MISTAKES, found, 0o600)


def find(root: Path, exercise: str) -> Mistake | None:
    """The first mistake in an exercise, of the last day with one; None if there is none."""
    entry = _read(root).get(exercise)
    return None if entry is None else Mistake(exercise, entry["misconception"], entry["code"])


def _cell_of(exercise: str, cells: Iterable[Mapping[str, Any]]) -> str:
    marked = [one["source"] for one in cells if one["metadata"].get("tfkit", {}).get("exercise") == exercise
              and one["metadata"]["tfkit"].get("role") == "exercise"]  # fmt: skip
    return marked[-1] if marked else ""


def _read(root: Path) -> dict[str, dict[str, str]]:
    """The entries that are as `keep` writes them; a file that is damaged has none, and is replaced by the next one."""
    try:
        found = read_small_json(root / MISTAKES, MAX_BYTES)
    except (OSError, ValueError):
        return {}
    entries = found.items() if isinstance(found, dict) else ()
    return {exercise: entry for exercise, entry in entries if isinstance(entry, dict) and _is_whole(entry)}


def _is_whole(entry: dict[str, Any]) -> bool:
    return all(isinstance(entry.get(key), str) for key in ("day", "misconception", "code"))
