"""A class's results, from the verdicts in an instructor's autograded notebooks. Only reads files; imports no torch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.capstone.results import leaderboard
from autograder.report.misconceptions import misconceptions
from tfkit_course.small_file import read_notebook_cells
from tfkit_lab.folders import course_folders

MAX_SUBMISSIONS = 3000
MAX_MISCONCEPTIONS = 5
RESULT_KEYS = ("status", "score", "max_score", "misconception", "misconceptions", "reason")


def classes(root: Path) -> list[dict[str, Any]]:
    """Every graded assignment in the course folders under root: its exercises, each student's results, and the most
    common misconceptions, most frequent first."""
    return [assignment for course in course_folders(root) for assignment in _assignments(root, course)]


def leaderboards(root: Path) -> list[dict[str, Any]]:
    """The capstone results in the course folders under root: listed students, best first, and the number of others.

    Students appear only under the names that they chose. A file that cannot be read is ignored.
    """
    found = []
    for course in course_folders(root):
        try:
            boards = list(leaderboard(course))
        except (ValueError, OSError):
            continue
        found += [{"course": course.relative_to(root).as_posix(), **board} for board in boards]
    return found


def with_leaderboards(root: Path, units: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The units, those with a project with its `leaderboard`; None if nothing of it was measured under root."""
    any_project = any(unit["project"] for unit in units)
    boards = {board["assignment"]: board for board in leaderboards(root)} if any_project else {}
    return [unit | ({"leaderboard": boards.get(unit["name"])} if unit["project"] else {}) for unit in units]


def _assignments(root: Path, course: Path) -> Iterator[dict[str, Any]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(course.glob("autograded/*/*/*.ipynb"))[:MAX_SUBMISSIONS]:
        student, assignment = path.relative_to(course / "autograded").parts[:2]
        handed_in = {"student": student, "path": path.relative_to(root).as_posix(), "verdicts": verdicts(path)}
        found.setdefault(assignment, []).append(handed_in)
    for assignment, students in sorted(found.items()):
        exercises = dict.fromkeys(name for one in students for name in one["verdicts"])
        yield {
            "course": course.relative_to(root).as_posix(),
            "assignment": assignment,
            "exercises": list(exercises),
            "students": students,
            "commonest": most_common_misconceptions(students),
        }


def verdicts(path: Path) -> dict[str, dict[str, Any]]:
    """Exercise -> its verdict, as the grader wrote it into the notebook; empty if the notebook cannot be read."""
    try:
        cells = read_notebook_cells(path)
        marks = [cell["metadata"].get("tfkit", {}) for cell in cells]
        found = [mark["verdict"] for mark in marks if isinstance(mark.get("verdict"), dict)]
        return {str(one["exercise"]): {key: one.get(key) for key in RESULT_KEYS} for one in found}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def most_common_misconceptions(students: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The misconceptions of these students, most common first, with the number of students."""
    counts = misconceptions(one["verdicts"] for one in students)
    return [
        {"exercise": exercise, "misconception": why, "students": count}
        for (exercise, why), count in counts.most_common(MAX_MISCONCEPTIONS)
    ]
