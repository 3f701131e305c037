"""`autograder status`: where a class stands, in one screen. It reads gradebook and records, and runs nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from rich.markup import escape
from rich.table import Table

from autograder.cluster import history
from autograder.cluster.course import settings_of, students_in, working_in
from autograder.cluster.records import FILE, open_read_only
from autograder.cluster.verify import is_resubmitted
from autograder.feedback.text import count_text
from autograder.marking.store import FILE as MARKING
from autograder.serve import lock

LAST_ROUND = """select r.started, e.at, e.outcome,
  (select count(*) from records where round = r.number), r.regrade
from rounds r left join ends e on e.round = r.number where r.assignment = ? order by r.number desc limit 1"""
OPEN_REQUESTS = "select count(*) from requests where id not in (select request from answers)"


@dataclass(frozen=True)
class AssignmentStatus:
    """Counts of one assignment's submissions. due: "" without one; last_run: in words, "" if it never was graded."""

    name: str
    due: str
    submitted: int
    graded: int
    to_grade: int
    by_hand: int  # wait for a person
    last_run: str
    stopped: bool  # the last run did not end: --resume


@dataclass(frozen=True)
class CourseStatus:
    """What `autograder status` shows."""

    course: str
    students: int
    serving: bool | None  # None: it cannot be told
    open_requests: int
    verdicts: int  # graded a second time
    unequal: int
    assignments: list[AssignmentStatus]

    def as_json(self) -> dict[str, Any]:
        """The same as a value for JSON."""
        return asdict(self)


def read(root: Path) -> CourseStatus:
    """The state of the course in `root`. Raises BadCourse, and sqlite3.Error or OSError for what cannot be read."""
    app = settings_of(root)
    coursedir = app.coursedir
    with working_in(root), Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
        students = len(gradebook.students)
        names = sorted(one.name for one in gradebook.assignments)
        rows = [_assignment(root, coursedir, gradebook, name) for name in names]
    verified = [one for name in names for one in history.verifications(root, name)]
    verdicts = sum(one.verdicts for one in verified)
    unequal = verdicts - sum(one.equal for one in verified)
    (requests,) = _row(root / MARKING, OPEN_REQUESTS) or (0,)
    return CourseStatus(str(coursedir.course_id), students, lock.is_held(root), requests, verdicts, unequal, rows)


def _assignment(root: Path, coursedir: CourseDirectory, gradebook: Gradebook, name: str) -> AssignmentStatus:
    submitted = students_in(coursedir, coursedir.submitted_directory, name)
    graded = students_in(coursedir, coursedir.autograded_directory, name)
    new = sum(student not in graded or is_resubmitted(folder, graded[student]) for student, folder in submitted.items())
    waits = sum(bool(one["needs_manual_grade"]) for one in gradebook.submission_dicts(name))
    due = gradebook.find_assignment(name).duedate
    when = due.replace(tzinfo=UTC).astimezone().strftime("%Y-%m-%d %H:%M") if due else ""
    last = _row(root / FILE, LAST_ROUND, name)
    stopped = last is not None and last[2] is None
    return AssignmentStatus(
        name, when, len(submitted), len(graded), new, waits, _last_run(*last) if last else "", stopped
    )


def _last_run(started: str, ended: str | None, outcome: str | None, count: int, regrade: int) -> str:
    when = datetime.fromisoformat(ended or started).astimezone().strftime("%Y-%m-%d %H:%M")
    what = "regrade" if regrade else "run"
    if outcome is None:
        return f"{when} {what} under way or stopped, {count} graded"
    return f"{when} {what} of {count}" + ("" if outcome == "committed" else f", {outcome}")


def _row(file: Path, query: str, *values: str) -> tuple[Any, ...] | None:
    """The first row that a query finds in a database; None without the file, or without such a row."""
    if not file.is_file():
        return None
    try:
        with open_read_only(file) as db:
            found: tuple[Any, ...] | None = db.execute(query, values).fetchone()
            return found
    except sqlite3.Error as error:
        error.add_note(str(file))
        raise


def table(status: CourseStatus) -> Table:
    """A row for each assignment."""
    shown = Table(box=None, pad_edge=False)
    shown.add_column("assignment", no_wrap=True)
    for name in ("handed in", "graded", "to grade", "by hand"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("last run", overflow="fold")
    shown.add_column("due", no_wrap=True)
    for one in status.assignments:
        counts = [str(number) for number in (one.submitted, one.graded, one.to_grade, one.by_hand)]
        run = f"[yellow]{escape(one.last_run)}[/]" if one.stopped else escape(one.last_run or "never")
        shown.add_row(escape(one.name), *counts, run, one.due)
    return shown


def lines(status: CourseStatus) -> Iterator[str]:
    """The sentences above and below the table."""
    service = {True: "autograder serve is running", False: "autograder serve is not running",
               None: f"whether autograder serve is running is unknown, as {lock.LOCK} cannot be read"}  # fmt: skip
    students, assignments = status.students, len(status.assignments)
    counts = f"{count_text(students, 'student')}, {count_text(assignments, 'assignment')}"
    yield f"{status.course}: {counts}; {service[status.serving]}"
    if status.open_requests:
        wait = "waits" if status.open_requests == 1 else "wait"
        yield f"{count_text(status.open_requests, 'regrade request')} {wait}: `autograder requests` lists them"
    if status.verdicts:
        yield f"graded again: {status.verdicts - status.unequal} of {status.verdicts} verdicts equal"
    due = [one.name for one in status.assignments if one.to_grade or one.stopped]
    if due and not status.serving:
        yield f"to do: autograder grade for {', '.join(due)}"
