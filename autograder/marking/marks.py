"""Marks in nbgrader's gradebook: finding a question, reading a mark with its version, and writing one."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from autograder.cluster.course import BadCourse, settings_of
from autograder.marking.store import BadMark, Mark, MarkedCell

FORMGRADER = "the formgrader"


@dataclass(frozen=True)
class MarkedQuestion:
    """A question of the gradebook; `commented` is the cell whose comment the feedback shows, if there is one.

    kind: task (an answer in cells below), answer (in the cell itself) or code (checked by a program).
    """

    of: MarkedCell
    kind: str
    max_score: float
    commented: str | None


@dataclass(frozen=True)
class GradebookMark:
    """A student's mark as the gradebook has it; `grade` is nbgrader's row."""

    grade: Any
    manual: float | None
    comment: str

    @property
    def score(self) -> float | None:
        """The manual or automatic score, or None if there is none yet."""
        return None if self.manual is None and self.grade.auto_score is None else float(self.grade.score)


def open_gradebook(root: Path) -> Gradebook:
    """Open the gradebook of the course, for a `with` statement. Raises BadMark if it cannot be opened."""
    try:
        coursedir = settings_of(root).coursedir
    except BadCourse as error:
        raise BadMark(str(error)) from error
    return Gradebook(coursedir.db_url, coursedir.course_id)


def find_question(gradebook: Gradebook, of: MarkedCell) -> MarkedQuestion:
    """Find the question in the gradebook. Raises BadMark if it has none of that name."""
    try:
        notebook = gradebook.find_notebook(of.notebook, of.assignment)
        cell = gradebook.find_graded_cell(of.cell, of.notebook, of.assignment)
    except MissingEntry:
        raise BadMark(f"the gradebook has no question {of.cell} in assignment {of.assignment}") from None
    return MarkedQuestion(of, kind_of(cell, notebook), float(cell.max_score), _commented(of.cell, notebook))


def kind_of(cell: Any, notebook: Any) -> str:
    """The kind of a graded cell: task, answer or code."""
    if cell in notebook.task_cells:
        return "task"
    return "answer" if any(one.name == cell.name for one in notebook.solution_cells) else "code"


def _commented(cell: str, notebook: Any) -> str | None:
    names = {one.name for one in [*notebook.solution_cells, *notebook.task_cells]}
    return next((name for name in (cell, cell.replace("check-", "solution-", 1)) if name in names), None)


def find_mark(gradebook: Gradebook, question: MarkedQuestion, student: str) -> GradebookMark:
    """The student's mark. Raises BadMark if the student has no graded submission."""
    of = question.of
    try:
        grade = gradebook.find_grade(of.cell, of.notebook, of.assignment, student)
    except MissingEntry:
        raise BadMark(f"{student} has no graded submission of {of.assignment}") from None
    comment_row = _comment_row(gradebook, question, student)
    return GradebookMark(
        grade, grade.manual_score, (comment_row.manual_comment or "") if comment_row is not None else ""
    )


def version_of(last: Mark | None, now: GradebookMark, question: MarkedQuestion) -> int:
    """The version of a mark: the number of the last mark given on the page (0: none), or a negative number if the mark
    was given or changed elsewhere, as in the formgrader."""
    score, comment = (last.score, last.comment) if last else (None, "")
    if now.manual == score and (question.commented is None or now.comment == comment):
        return last.id if last else 0
    return -1 - zlib.crc32(repr((now.manual, now.comment)).encode())


def write_mark(gradebook: Gradebook, question: MarkedQuestion, student: str, score: float | None, comment: str) -> None:
    """Update the mark's rows without committing; a score of None removes the manual mark.

    Raises BadMark if the cell has no comment row.
    """
    grade = find_mark(gradebook, question, student).grade
    grade.manual_score = score
    grade.needs_manual_grade = score is None and grade.auto_score is None
    comment_row = _comment_row(gradebook, question, student)
    if comment_row is not None:
        comment_row.manual_comment = comment or None


def _comment_row(gradebook: Gradebook, question: MarkedQuestion, student: str) -> Any:
    of = question.of
    if question.commented is None:
        return None
    return gradebook.find_comment(question.commented, of.notebook, of.assignment, student)
