"""What the class page of the lab asks about a graded assignment; each answer is JSON-serialisable.

Every function raises BadCourse if the course cannot be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.cluster import history, scores
from autograder.report import attempts, group, page
from autograder.report.export import as_csv
from autograder.report.items import check_items, table_rows


def class_report(root: Path, assignment: str) -> str:
    """The class report as one HTML page."""
    students = group.read(root, assignment)
    try:
        found = scores.read(root, assignment)
    except scores.ExportError:  # graded notebooks without a gradebook
        found = None
    ways = attempts.full_marks(history.read(root, assignment))
    return page.page(assignment, students, ways, found, history.verifications(root, assignment))


def item_analysis(root: Path, assignment: str) -> dict[str, Any]:
    """Every check with its numbers, and the attempts that each exercise took, where some were made."""
    students = group.read(root, assignment)
    ways = attempts.full_marks(history.read(root, assignment))
    return {"checks": [asdict(one) for one in check_items(students)], "attempts": [_way(one) for one in ways]}


def _way(one: attempts.FullMarks) -> dict[str, Any]:
    got = len(one.attempts)
    typical = one.median_attempts if got else None
    return {"exercise": one.exercise, "students": one.students, "first": one.first_attempt, "reached": got,
            "median": typical}  # fmt: skip


def class_files(root: Path, assignment: str) -> dict[str, str]:
    """The files to keep or to send: the report as a page, and the item analysis as a table."""
    rows = table_rows(check_items(group.read(root, assignment)))
    return {"html": class_report(root, assignment), "csv": as_csv(rows)}


def attempts_of(root: Path, assignment: str, student: str) -> list[dict[str, Any]]:
    """The graded attempts of a student, the first one first, with the points of each exercise."""
    found: Sequence[history.AttemptRecord] = history.read(root, assignment)
    return [
        {"number": one.number, "regrade": one.regrade, "at": one.at.isoformat(), "score": one.score,
         "max_score": one.max_score, "state": one.state,
         "exercises": {verdict["exercise"]: verdict["score"] for verdict in one.verdicts}}
        for one in found if one.student == student
    ]  # fmt: skip
