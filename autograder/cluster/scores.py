"""The scores of an assignment from nbgrader's gradebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.engine import make_url

from autograder.cluster import teams
from autograder.cluster.course import BadCourse, settings_of, working_in
from autograder.nbgrader.ledger import Ledger


class ExportError(Exception):
    """There is nothing to export, or the output cannot be written; the message says what to do."""


class NoScores(ExportError):
    """Nothing of the assignment is graded yet."""


@dataclass(frozen=True)
class Question:
    """A graded cell; its title names the notebook too where the assignment has several."""

    notebook: str
    cell: str
    title: str
    max_score: float


@dataclass(frozen=True)
class StudentScores:
    """A student's scores, all in points; `points` is by question, or None if no submission is graded.

    A question that is not marked yet is None among the points. `review`: a manual mark is older than the last regrade;
    `by_hand`: the manual part of the points; `submitted`: ISO 8601 with the offset of UTC, or "".
    """

    student: str
    first_name: str
    last_name: str
    email: str
    submitted: str
    points: list[float | None] | None
    penalty: float
    review: bool = False
    by_hand: float = 0.0

    @property
    def waits(self) -> bool:
        """Whether one of the student's questions is not marked yet."""
        return self.points is not None and None in self.points

    @property
    def raw(self) -> float | None:
        """The sum over the questions that are marked."""
        return None if self.points is None else sum(one or 0.0 for one in self.points)

    @property
    def total(self) -> float | None:
        """The points after the late penalty, not below zero, as nbgrader reports them."""
        return None if self.raw is None else max(0.0, self.raw - self.penalty)


@dataclass(frozen=True)
class Scores:
    """An assignment, its questions and a row per student of the course."""

    assignment: str
    questions: list[Question]
    rows: list[StudentScores]
    warnings: list[str]

    @property
    def max_score(self) -> float:
        """The points of all questions."""
        return sum(question.max_score for question in self.questions)


def read(root: Path, assignment: str) -> Scores:
    """The scores in the gradebook of the course in `root`.

    Raises ExportError if the gradebook has no such assignment, and NoScores if nothing of it is graded.
    """
    try:
        app = settings_of(root.resolve())
    except BadCourse as error:
        raise ExportError(str(error)) from error
    coursedir = app.coursedir
    file = make_url(coursedir.db_url)
    with working_in(root):
        if file.drivername.startswith("sqlite") and not Path(file.database or "").is_file():  # else it would be created
            raise ExportError(f"there is no gradebook {file.database}: run `nbgrader generate_assignment {assignment}`")
        with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
            return _scores(gradebook, assignment, Ledger(app), _teams(root, assignment))


def _teams(root: Path, assignment: str) -> dict[str, list[str]]:
    try:
        return teams.read(root, assignment)
    except teams.BadTeams as error:
        raise ExportError(str(error)) from None


def _scores(gradebook: Gradebook, name: str, ledger: Ledger, members: dict[str, list[str]]) -> Scores:
    try:
        assignment = gradebook.find_assignment(name)
    except MissingEntry:
        known = ", ".join(sorted(one.name for one in gradebook.assignments)) or "none"
        raise ExportError(f"the gradebook has no assignment {name!r}; it has: {known}") from None
    questions = _questions(assignment)
    own = {one.student.id: one for one in gradebook.assignment_submissions(name)}
    graded_own = {student: one for student, one in own.items() if _is_graded(one)}
    submissions = teams.share(graded_own, members) if members else own
    rows = [_row(student, submissions.get(student.id), questions, ledger) for student in gradebook.students]
    graded = [row for row in rows if row.points is not None]
    if not graded:
        raise NoScores(f"nothing of {name} is graded yet: run `autograder grade COURSE_DIR {name}` first")
    warnings = list(_warnings(graded))
    if shared := sum(submissions[row.student] is not own.get(row.student) for row in graded):
        warnings.append(f"{shared} of {len(graded)} have the points of another team member's submission")
    return Scores(name, questions, sorted(rows, key=lambda row: row.student), warnings)


def _warnings(graded: list[StudentScores]) -> Iterator[str]:
    if waiting := sum(row.waits for row in graded):
        yield f"{waiting} of {len(graded)} wait for manual grading in the formgrader"
    if review := sum(row.review and not row.waits for row in graded):
        yield f"{review} of {len(graded)} have manual marks from before a regrade: review them in the formgrader"


def _questions(assignment: Any) -> list[Question]:
    several = len(assignment.notebooks) > 1
    return [
        Question(book.name, cell.name, f"{book.name}: {cell.name}" if several else cell.name, cell.max_score)
        for book in sorted(assignment.notebooks, key=lambda book: book.name)
        for cell in [*book.grade_cells, *book.task_cells]
    ]


def _row(student: Any, submission: Any, questions: list[Question], ledger: Ledger) -> StudentScores:
    names = (student.first_name or "", student.last_name or "", student.email or "")
    grades = [grade for book in submission.notebooks for grade in book.grades] if submission else []
    if not submission or not _is_graded(submission):
        return StudentScores(student.id, *names, "", None, 0.0)
    found = {(one.notebook.name, one.name): float(one.score) if _marked(one) else None for one in grades}
    points = [found.get((question.notebook, question.cell), 0.0) for question in questions]
    when = submission.timestamp.replace(tzinfo=UTC).isoformat(sep=" ") if submission.timestamp else ""
    review = any(grade.needs_manual_grade for grade in grades)
    by_hand = sum(float(grade.score) for grade in grades if grade.manual_score is not None)
    return StudentScores(student.id, *names, when, points, ledger.total(submission).penalty, review, by_hand)


def _is_graded(submission: Any) -> bool:
    return any(_marked(grade) for book in submission.notebooks for grade in book.grades)


def _marked(grade: Any) -> bool:
    return grade.auto_score is not None or grade.manual_score is not None
