"""The scores of an assignment, as nbgrader's gradebook has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.engine import make_url

from autograder.cluster.course import BadCourse, settings_of, working_in


class NoExport(Exception):
    """There is nothing to export, or nowhere to put it; the message says what to do."""


@dataclass(frozen=True)
class Question:
    """A graded cell; its title names the notebook too where the assignment has several."""

    notebook: str
    cell: str
    title: str
    max_score: float


@dataclass(frozen=True)
class Row:
    """A student of the course; `points` by question, None where nothing of theirs is graded. All in points."""

    student: str
    first_name: str
    last_name: str
    email: str
    submitted: str
    points: list[float] | None
    penalty: float

    @property
    def raw(self) -> float | None:
        """The sum over the questions."""
        return None if self.points is None else sum(self.points)

    @property
    def total(self) -> float | None:
        """After the late penalty, not below zero: as nbgrader reports it."""
        return None if self.raw is None else max(0.0, self.raw - self.penalty)


@dataclass(frozen=True)
class Scores:
    """An assignment, its questions and a row per student of the course."""

    assignment: str
    questions: list[Question]
    rows: list[Row]
    warnings: list[str]

    @property
    def max_score(self) -> float:
        """The points of all questions."""
        return sum(question.max_score for question in self.questions)


def read(root: Path, assignment: str) -> Scores:
    """The scores in the gradebook of the course in `root`. Raises NoExport."""
    try:
        coursedir = settings_of(root.resolve()).coursedir
    except BadCourse as error:
        raise NoExport(str(error)) from error
    file = make_url(coursedir.db_url)
    with working_in(root):
        if file.drivername.startswith("sqlite") and not Path(file.database or "").is_file():  # it would be made
            raise NoExport(f"there is no gradebook {file.database}: run `nbgrader generate_assignment {assignment}`")
        with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            return _scores(gradebook, assignment)


def _scores(gradebook: Gradebook, name: str) -> Scores:
    try:
        assignment = gradebook.find_assignment(name)
    except MissingEntry:
        known = ", ".join(sorted(one.name for one in gradebook.assignments)) or "none"
        raise NoExport(f"the gradebook has no assignment {name!r}; it has: {known}") from None
    questions = _questions(assignment)
    handed = {one.student.id: one for one in gradebook.assignment_submissions(name)}
    rows = [_row(student, handed.get(student.id), questions) for student in gradebook.students]
    graded = {row.student for row in rows if row.points is not None}
    if not graded:
        raise NoExport(f"nothing of {name} is graded yet: run `autograder grade COURSE_DIR {name}` first")
    manual = sum(handed[student].needs_manual_grade for student in graded)
    warnings = [f"{manual} of {len(graded)} wait for a person's grade in the formgrader"] if manual else []
    return Scores(name, questions, sorted(rows, key=lambda row: row.student), warnings)


def _questions(assignment: Any) -> list[Question]:
    several = len(assignment.notebooks) > 1
    return [
        Question(book.name, cell.name, f"{book.name}: {cell.name}" if several else cell.name, cell.max_score)
        for book in sorted(assignment.notebooks, key=lambda book: book.name)
        for cell in [*book.grade_cells, *book.task_cells]
    ]


def _row(student: Any, submission: Any, questions: list[Question]) -> Row:
    names = (student.first_name or "", student.last_name or "", student.email or "")
    grades = [grade for book in submission.notebooks for grade in book.grades] if submission else []
    if all(grade.auto_score is None and grade.manual_score is None for grade in grades):
        return Row(student.id, *names, "", None, 0.0)
    found = {(grade.notebook.name, grade.name): float(grade.score) for grade in grades}
    points = [found.get((question.notebook, question.cell), 0.0) for question in questions]
    when = submission.timestamp.isoformat(sep=" ") if submission.timestamp else ""
    return Row(student.id, *names, when, points, float(submission.late_submission_penalty or 0))
