"""A class's results, from the verdicts in an instructor's autograded notebooks. Only reads files; imports no torch."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.capstone.results import leaderboard
from autograder.feedback.html import verdict_html
from autograder.report.misconceptions import misconceptions
from tfkit_course.small_file import read_notebook_cells
from tfkit_lab import wording
from tfkit_lab.course import units
from tfkit_lab.folders import course_folders

MAX_SUBMISSIONS = 3000
MAX_MISCONCEPTIONS = 5
MAX_CODE = 20_000  # characters of an answer
RESULT_KEYS = ("status", "score", "max_score", "misconception", "misconceptions", "reason")
Verdicts = dict[str, dict[str, Any]]  # exercise -> verdict


class NoAnswer(ValueError):
    """There is no graded answer of that name; the message says which."""


def classes(root: Path, language: str = "en") -> list[dict[str, Any]]:
    """Every graded assignment in the course folders under root: its title, its due date, its exercises with their
    titles, each student's results, and the most common misconceptions in words, most frequent first."""
    return [assignment for course in course_folders(root) for assignment in _assignments(root, course, language)]


def timetable(root: Path) -> list[dict[str, Any]]:
    """The units of the course folders under root that have a due date, the next one first."""
    return sorted((unit for course in course_folders(root) for unit in _units(course).values() if unit["due"]),
                  key=lambda unit: datetime.fromisoformat(unit["due"]))  # fmt: skip


def answer(root: Path, course: str, assignment: str, student: str, exercise: str) -> dict[str, Any]:
    """A student's graded answer: the card of its verdict, and the code of its cell. Raises NoAnswer."""
    folders = (one / "autograded" for one in course_folders(root) if one.relative_to(root).as_posix() == course)
    paths = ((folder, path) for folder in folders for path in sorted(folder.glob("*/*/*.ipynb")))
    own = (path for folder, path in paths if path.relative_to(folder).parts[:2] == (student, assignment))
    for path in own:
        if found := _answer(path, exercise):
            return {"path": path.relative_to(root).as_posix(), **found}
    raise NoAnswer(f"{student} has no graded answer to {exercise} in {assignment}")


def _answer(path: Path, exercise: str) -> dict[str, Any] | None:
    try:
        marks = [(cell["metadata"].get("tfkit", {}), cell) for cell in read_notebook_cells(path)]
        found = next((mark["verdict"] for mark, _ in marks if _is_about(mark, exercise)), None)
        own = [mark.get("role") == "exercise" and mark.get("exercise") == exercise for mark, _ in marks]
        code = "\n\n".join("".join(cell["source"]) for (_, cell), yes in zip(marks, own, strict=True) if yes)
        return {"html": verdict_html(found, styled=False), "code": code[:MAX_CODE]} if found else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _is_about(mark: dict[str, Any], exercise: str) -> bool:
    return isinstance(mark.get("verdict"), dict) and mark["verdict"].get("exercise") == exercise


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


def _units(course: Path) -> dict[str, dict[str, Any]]:
    """The units of a course's source by name: title, due date, and titles of exercises."""
    return {
        unit["name"]: {
            "name": unit["name"], "title": unit["title"], "due": unit["due"],
            "titles": {one["id"]: one["title"] for one in unit["exercises"]},
        }
        for unit in units(course / "source")
    }  # fmt: skip


def _assignments(root: Path, course: Path, language: str) -> Iterator[dict[str, Any]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(course.glob("autograded/*/*/*.ipynb"))[:MAX_SUBMISSIONS]:
        student, assignment = path.relative_to(course / "autograded").parts[:2]
        handed_in = {"student": student, "path": path.relative_to(root).as_posix(), "verdicts": verdicts(path)}
        found.setdefault(assignment, []).append(handed_in)
    known = _units(course) if found else {}
    for assignment, students in sorted(found.items()):
        exercises = dict.fromkeys(name for one in students for name in one["verdicts"])
        unit = known.get(assignment, {"title": assignment, "due": None, "titles": {}})
        yield {
            "course": course.relative_to(root).as_posix(),
            "assignment": assignment,
            "title": unit["title"],
            "due": unit["due"],
            "exercises": list(exercises),
            "titles": {**unit["titles"], **wording.titles(exercises, language)},
            "students": students,
            "commonest": in_words(most_common_misconceptions(students), language),
        }


def in_words(commonest: list[dict[str, Any]], language: str) -> list[dict[str, Any]]:
    """Misconceptions, each with its exercise, in words."""
    return [found for one in commonest for found in wording.with_sentences(one["exercise"], [one], language)]


def verdicts(path: Path) -> Verdicts:
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
