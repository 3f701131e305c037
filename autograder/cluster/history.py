"""Every attempt that `autograder grade` graded: what was handed in again, and what became of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from autograder.cluster.course import BadCourse
from autograder.cluster.job import Record
from autograder.cluster.records import FILE

QUERY = """select r.student, r.submission, r.at, r.result, n.regrade, c.at is not null, e.outcome
from records r join rounds n on n.number = r.round left join ends e on e.round = r.round
left join commits c on c.round = r.round and c.student = r.student and c.assignment = r.assignment
  and c.submission = r.submission and c.checks = r.checks
where r.assignment = ? order by r.student, r.at"""


@dataclass(frozen=True)
class Attempt:
    """One graded submission of a student. `number` counts what was handed in; a regrade has its attempt's number."""

    student: str
    number: int
    regrade: bool
    at: datetime
    verdicts: list[dict[str, Any]]
    state: str  # "" where it reached the gradebook

    @property
    def score(self) -> float:
        """The sum over the exercises."""
        return sum(verdict["score"] for verdict in self.verdicts)

    @property
    def max_score(self) -> float:
        """What they are worth."""
        return sum(verdict["max_score"] for verdict in self.verdicts)


def read(root: Path, assignment: str) -> list[Attempt]:
    """All attempts, by student and time; none where `autograder grade` was never run. Raises BadCourse."""
    file = root.resolve() / FILE
    if not file.is_file():
        return []
    try:
        db = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=30)
        try:
            rows = db.execute(QUERY, (assignment,)).fetchall()
        finally:
            db.close()
    except sqlite3.Error as error:
        raise BadCourse(f"{file} cannot be read ({error}): are these the records of `autograder grade`?") from error
    return list(_attempts(rows))


def _attempts(rows: Iterable[tuple]) -> Iterator[Attempt]:
    handed: dict[str, list[str]] = {}
    for student, submission, at, result, regrade, committed, outcome in rows:
        seen = handed.setdefault(student, [])
        if submission not in seen:
            seen.append(submission)
        state = "" if committed else "discarded" if outcome == "discarded" else "not in the gradebook"
        verdicts = Record.from_bytes(result).verdicts
        number = seen.index(submission) + 1
        yield Attempt(student, number, bool(regrade), datetime.fromisoformat(at), verdicts, state)


def table(assignment: str, attempts: Iterable[Attempt]) -> Table:
    """A row for each attempt, with the points of each exercise; those that are other than before stand out."""
    attempts = list(attempts)
    names = list(dict.fromkeys(verdict["exercise"] for one in attempts for verdict in one.verdicts))
    shown = Table(title=f"{assignment}: every attempt", title_justify="left")
    for name in ("student", "attempt", "graded"):
        shown.add_column(name, no_wrap=True)
    for name in ("points", *names):
        shown.add_column(name, justify="right", overflow="fold")
    shown.add_column("")
    before: dict[str, dict[str, str]] = {}
    for one in attempts:
        marks = {verdict["exercise"]: _mark(verdict) for verdict in one.verdicts}
        old = before.get(one.student, marks)
        cells = [_shown(marks.get(name, ""), old.get(name, "")) for name in names]
        number = f"{one.number}{', regraded' * one.regrade}"
        when = one.at.astimezone().strftime("%Y-%m-%d %H:%M")
        shown.add_row(escape(one.student), number, when, f"{one.score:g}/{one.max_score:g}", *cells, one.state)
        before[one.student] = marks
    return shown


def _mark(verdict: dict[str, Any]) -> str:
    return "?" if verdict["status"] == "not_graded" else f"{verdict['score']:g}"


def _shown(mark: str, before: str) -> str:
    return mark if mark == before else f"[bold]{before} → {mark}[/]"
