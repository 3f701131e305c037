"""Who is stuck where, during a class: what the students' servers put into the shared folder at each check.

It is the folder of the predictions (`TFKIT_PREDICTIONS`), and a file there holds outcomes and times, no code. They are
the student's own, so nothing here is a mark. Only reads and writes files; imports no torch.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from autograder.api import SEPARATOR, misconceptions_of
from autograder.exercises.variants import student_name
from tfkit_course.small_file import is_of, read_small_json
from tfkit_lab import sealed

SUFFIX = ".progress.json"
CHECKS = 3  # failing checks in a row, and …
MINUTES = 10.0  # … minutes since the first of them, that make a student stuck
AWAY_MINUTES = 45.0  # after which a student without a check is not in the class any more
MAX_MISCONCEPTIONS = 3
MAX_NAMES = 8  # of mistakes in one outcome
MAX_EXERCISES = 300


def publish(exercises: dict[str, Any], token: str) -> None:
    """Copy a student's outcomes into the shared folder, where one is named.

    Raises OSError if the folder cannot be written.
    """
    if shared := os.environ.get(sealed.FOLDER):
        student = student_name()
        target = Path(shared) / f"{student}.{token}{SUFFIX}"
        sealed.replace_file(target, {"student": student, "exercises": exercises})


def of_class(
    shared: str | None, *, names: bool = False, checks: int = CHECKS, minutes: float = MINUTES,
    now: datetime | None = None,
) -> dict[str, Any]:  # fmt: skip
    """For each exercise how many have passed, tried and are stuck, and the misconceptions that those share now.

    Stuck: `checks` failing ones in a row or more, the first of them `minutes` ago or more. Who has checked nothing for
    AWAY_MINUTES counts as having tried. names: also who is stuck.
    """
    now = now or datetime.now(UTC)
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    students = dict(_students(shared))
    for student, exercises in students.items():
        for exercise, entry in exercises.items():
            found.setdefault(exercise, []).append((student, entry))
    rows = [_row(exercise, entries, names, checks, minutes, now) for exercise, entries in found.items()]
    active = sum(any(_is_recent(entry, now) for entry in one.values()) for one in students.values())
    return {"students": len(students), "active": active, "exercises": sorted(rows, key=_order)}


def _order(row: dict[str, Any]) -> tuple[Any, ...]:
    return (-row["stuck"], -row["tried"], row["exercise"])


def _row(
    exercise: str, entries: list[tuple[str, dict[str, Any]]], names: bool, checks: int, minutes: float, now: datetime
) -> dict[str, Any]:
    passed = sum(entry["status"] == "passed" for _, entry in entries)
    stuck = [(student, entry) for student, entry in entries if _is_stuck(entry, checks, minutes, now)]
    trying = [entry for _, entry in entries if entry["status"] == "failed" and _is_recent(entry, now)]
    counts = Counter(name for entry in trying for name in dict.fromkeys(entry["misconceptions"]))
    row = {"exercise": exercise, "passed": passed, "tried": len(entries) - passed - len(stuck), "stuck": len(stuck)}
    why = [{"misconception": name, "students": count} for name, count in counts.most_common(MAX_MISCONCEPTIONS)]
    who = [{"student": student, "failed": entry["failed"], "minutes": _minutes(entry["since"], now),
            "misconception": SEPARATOR.join(entry["misconceptions"]) or None} for student, entry in stuck]  # fmt: skip
    return {**row, "commonest": why, **({"who": who} if names else {})}


def _is_stuck(entry: dict[str, Any], checks: int, minutes: float, now: datetime) -> bool:
    failing = entry["status"] == "failed" and entry["failed"] >= checks and _is_recent(entry, now)
    return failing and _minutes(entry["since"], now) >= minutes


def _is_recent(entry: dict[str, Any], now: datetime) -> bool:
    return abs(now - entry["at"]) <= timedelta(minutes=AWAY_MINUTES)


def _minutes(since: datetime, now: datetime) -> int:
    return int((now - since).total_seconds() // 60)


def _students(shared: str | None) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    """The students with their outcomes; of two files of one student the one that was written last."""
    if not shared or not os.access(shared, os.R_OK):
        return
    files = sorted(Path(shared).glob(f"*{SUFFIX}"), key=_written_at)[-sealed.MAX_FILES :]
    for path in files:
        try:
            found = read_small_json(path, sealed.MAX_BYTES)
            student, exercises = str(found["student"])[: sealed.MAX_TEXT], list(found["exercises"].items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue  # students can write anything into their files
        if not path.name.startswith(f"{student}.") or not is_of(path, student):
            continue  # somebody else's file in this student's name
        entries = ((name[: sealed.MAX_TEXT], _entry(one)) for name, one in exercises[:MAX_EXERCISES])
        yield student, {name: entry for name, entry in entries if entry is not None}


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # it was replaced meanwhile
        return 0.0


def _entry(one: Any) -> dict[str, Any] | None:
    """A valid outcome with its times; None for anything else."""
    try:
        status, failed = one["status"], one.get("failed", 0)
        names = [name[: sealed.MAX_TEXT] for name in misconceptions_of(one)[:MAX_NAMES]]
        at = datetime.fromisoformat(one["at"])
        since = datetime.fromisoformat(one.get("since") or one["at"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    if isinstance(best := one.get("best"), dict) and best.get("status") == "passed":
        status, failed = "passed", 0  # who tries out a mistake after passing is not stuck
    sound = status in ("passed", "failed", "not_graded") and isinstance(failed, int)
    sound = sound and isinstance(one.get("misconception"), str | None)
    sound = sound and at.tzinfo is not None and since.tzinfo is not None
    return {"status": status, "misconceptions": names, "failed": failed, "at": at, "since": since} if sound else None
