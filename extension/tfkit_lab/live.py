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

from autograder.api import misconceptions_of
from autograder.exercises.variants import student_name
from autograder.feedback.files import replace_json
from tfkit_course.small_file import account_of, has_accounts, has_name_of, is_of, read_small_json
from tfkit_lab import sealed, wording

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
        replace_json(target, {"student": student, "exercises": exercises})


def of_class(
    shared: str | None, *, names: bool = False, checks: int = CHECKS, minutes: float = MINUTES,
    now: datetime | None = None,
) -> dict[str, Any]:  # fmt: skip
    """For each exercise how many have passed, tried and are stuck, how many are at it now (`here`: it is what they
    checked last), and the misconceptions that those share now.

    Stuck: `checks` failing ones in a row or more, the first of them `minutes` ago or more. Who has checked nothing for
    AWAY_MINUTES counts as having tried. `people` is what each one who is active checked last, those who are stuck
    first; with names only where these are asked for.
    """
    now = now or datetime.now(UTC)
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    students = dict(_students(shared))
    for student, exercises in students.items():
        for exercise, entry in exercises.items():
            found.setdefault(exercise, []).append((student, entry))
    latest = {student: one for student, exercises in students.items() if (one := _latest(exercises, now))}
    here = Counter(exercise for exercise, _ in latest.values())
    rows = [
        {**_row(exercise, entries, checks, minutes, now), "here": here[exercise]} for exercise, entries in found.items()
    ]
    people = [_person(student, *one, checks, minutes, now) for student, one in latest.items()]
    people.sort(key=lambda one: (not one["stuck"], -one["failed"], one["exercise"], one["student"]))
    counts = {"students": len(students), "active": len(latest), "stuck": sum(one["stuck"] for one in people)}
    told = people if names else [{**one, "student": None} for one in people]
    return {**counts, "exercises": sorted(rows, key=_order), "people": told}


def _latest(exercises: dict[str, dict[str, Any]], now: datetime) -> tuple[str, dict[str, Any]] | None:
    """The exercise that a student checked last, with its outcome; None for one who is away."""
    recent = [(exercise, entry) for exercise, entry in exercises.items() if _is_recent(entry, now)]
    return max(recent, key=lambda one: one[1]["at"], default=None)


def _person(
    student: str, exercise: str, entry: dict[str, Any], checks: int, minutes: float, now: datetime
) -> dict[str, Any]:
    stuck = _is_stuck(entry, checks, minutes, now)
    return {"student": student, "exercise": exercise, "status": entry["status"], "failed": entry["failed"],
            "minutes": _minutes(entry["since"], now), "ago": max(0, _minutes(entry["at"], now)), "stuck": stuck,
            "misconceptions": entry["misconceptions"]}  # fmt: skip


def _order(row: dict[str, Any]) -> tuple[Any, ...]:
    return (-row["stuck"], -row["tried"], row["exercise"])


def _row(
    exercise: str, entries: list[tuple[str, dict[str, Any]]], checks: int, minutes: float, now: datetime
) -> dict[str, Any]:
    passed = sum(entry["status"] == "passed" for _, entry in entries)
    stuck = sum(_is_stuck(entry, checks, minutes, now) for _, entry in entries)
    trying = [entry for _, entry in entries if entry["status"] == "failed" and _is_recent(entry, now)]
    counts = Counter(name for entry in trying for name in dict.fromkeys(entry["misconceptions"]))
    why = [{"misconception": name, "students": count} for name, count in counts.most_common(MAX_MISCONCEPTIONS)]
    row = {"exercise": exercise, "passed": passed, "tried": len(entries) - passed - stuck, "stuck": stuck}
    return {**row, "commonest": why}


def _is_stuck(entry: dict[str, Any], checks: int, minutes: float, now: datetime) -> bool:
    failing = entry["status"] == "failed" and entry["failed"] >= checks and _is_recent(entry, now)
    return failing and _minutes(entry["since"], now) >= minutes


def _is_recent(entry: dict[str, Any], now: datetime) -> bool:
    return abs(now - entry["at"]) <= timedelta(minutes=AWAY_MINUTES)


def _minutes(since: datetime, now: datetime) -> int:
    return int((now - since).total_seconds() // 60)


def _students(shared: str | None) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    """The students with their outcomes in exercises that a course has; of two files of one student the one that was
    written last, and one account is one student."""
    read = list(_files(shared))
    known, accounts = wording.by_id(), has_accounts((path, student) for path, student, _ in read)
    for path, student, exercises in read:
        entries = ((name, _entry(one)) for name, one in exercises if name in known)
        name = account_of(path, student) if accounts else student
        yield name, {exercise: entry for exercise, entry in entries if entry is not None}


def _files(shared: str | None) -> Iterator[tuple[Path, str, list[tuple[str, Any]]]]:
    """The files with their students and what they say of exercises, the latest last."""
    if not shared or not os.access(shared, os.R_OK):
        return
    latest_first = sorted(Path(shared).glob(f"*{SUFFIX}"), key=_written_at, reverse=True)
    for path in sorted(sealed.share_out(latest_first), key=_written_at):
        try:
            found = read_small_json(path, sealed.MAX_BYTES)
            student, exercises = str(found["student"])[: sealed.MAX_TEXT], list(found["exercises"].items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue  # students can write anything into their files
        if not has_name_of(path, student) or not is_of(path, student):
            continue  # somebody else's file in this student's name
        yield path, student, exercises[:MAX_EXERCISES]


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
