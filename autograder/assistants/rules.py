"""A course's rules for assistants: how many steps of help they get, where the log is, and what they cannot help with.

They are in the course.toml of the course directory, or of the folder with a student's notebooks:

    [assistants]
    hints = 2          # steps of help: 0 none, 1 the concept, 2 the observed behaviour, 3 the smallest counter-example

If `nbgrader_config.py` is in the same folder, the smaller of this number and `c.ShowVerdicts.hints` counts: an
assistant never gets more help than the students.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.api import HINTS, Exercise
from autograder.exercises.contracts import MARK, draw_contract
from autograder.settings import course_file
from autograder.settings.course_file import ASSISTANTS, FILE, STUDENT
from tfkit_course.small_file import NOTEBOOK_BYTES, read_small

LOG = Path(".tfkit") / "assistants.jsonl"
NOTEBOOKS = ("*.ipynb", "*/*.ipynb", "*/*/*.ipynb")  # of a student's folder or a course directory, not those handed in


class BadRules(ValueError):
    """The course cannot be read; the message says what is wrong, where, and what to do."""


@dataclass(frozen=True, kw_only=True)
class AssistantRules:
    """hints: the number of steps of help; log: the file of JSON lines; course: its folder, if one was named; variants:
    the text by which the course draws contracts, if it does; each_student: it draws them for each student."""

    hints: int
    log: Path
    course: Path | None = None
    variants: str = ""
    each_student: bool = False

    def asks_otherwise(self, exercise: Exercise) -> bool:
        """Whether the course, or a notebook in its folder, asks for the exercise under another contract."""
        if self.course is None or not exercise.contracts:
            return False
        if self.variants and (self.each_student or draw_contract(exercise, self.variants)):
            return True
        asked = f"{exercise.id}{MARK}".encode()
        return any(asked in _content(path) for pattern in NOTEBOOKS for path in self.course.glob(pattern))


def read_rules(course: Path | None) -> AssistantRules:
    """The rules of the course in this folder, or the defaults without a course.

    Raises BadRules if course.toml is invalid.
    """
    if course is None:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        return AssistantRules(hints=HINTS, log=Path(state) / "tfkit" / LOG.name)
    if not course.is_dir():
        raise BadRules(f"there is no folder {course}: name a course directory, or the folder with the notebooks")
    own = _own(course / FILE)
    hints: int = (ASSISTANTS.defaults | own.get(ASSISTANTS.name, {}))["hints"]
    return AssistantRules(
        hints=min(hints, _of_students(course)),
        log=course / LOG,
        course=course,
        variants=own.get("variants", ""),
        each_student=own.get("variants_for") == STUDENT,
    )


def _content(path: Path) -> bytes:
    """Of a notebook; nothing if it cannot be read, when no student works in it either."""
    try:
        return read_small(path, NOTEBOOK_BYTES)
    except OSError:
        return b""


def _own(path: Path) -> dict[str, Any]:
    try:
        return course_file.read(path)
    except course_file.CourseFileError as error:
        raise BadRules(str(error)) from None


def _of_students(course: Path) -> int:
    """`c.ShowVerdicts.hints` of an instructor's directory; HINTS, which limits nothing, for a student's folder."""
    if not (course / "nbgrader_config.py").is_file():
        return HINTS
    try:
        from autograder.cluster.scores import ExportError
        from autograder.report.recipes import hints_of
    except ImportError as error:
        raise BadRules(f"{course}/nbgrader_config.py cannot be read without {error.name}") from error
    try:
        return hints_of(course)
    except ExportError as error:
        raise BadRules(str(error)) from error
