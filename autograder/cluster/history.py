"""Every attempt that `autograder grade` graded, including resubmissions, with its result."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from autograder.cluster.course import BadCourse
from autograder.cluster.job import GradingRecord
from autograder.cluster.records import FILE, open_read_only

if TYPE_CHECKING:
    from autograder.cluster.scores import Scores, StudentScores

QUERY = """select r.student, r.submission, r.at, r.result, n.regrade, c.at is not null, e.outcome
from records r join rounds n on n.number = r.round left join ends e on e.round = r.round
left join commits c on c.round = r.round and c.student = r.student and c.assignment = r.assignment
  and c.submission = r.submission and c.checks = r.checks
where r.assignment = ? order by r.student, r.round, r.at"""  # rounds count up even where a clock is set back
VERIFICATIONS = "select at, verdicts, equal from verifications where assignment = ? and verdicts > 0 order by at"


@dataclass(frozen=True)
class Verification:
    """How many verdicts one `autograder verify` or `autograder grade` graded again, and how many were equal."""

    at: datetime
    verdicts: int
    equal: int


@dataclass(frozen=True)
class AttemptRecord:
    """One graded submission of a student. `number` counts submissions; a regrade has the number of its attempt."""

    student: str
    number: int
    regrade: bool
    at: datetime
    verdicts: list[dict[str, Any]]
    state: str  # "" if it reached the gradebook

    @property
    def score(self) -> float:
        """The sum over the exercises."""
        return sum(verdict["score"] for verdict in self.verdicts)

    @property
    def max_score(self) -> float:
        """The sum of the exercises' points."""
        return sum(verdict["max_score"] for verdict in self.verdicts)


def read(root: Path, assignment: str) -> list[AttemptRecord]:
    """All attempts, by student and time; empty if `autograder grade` was never run.

    Raises BadCourse if the course cannot be read.
    """
    return list(_attempts(_rows_of(root, QUERY, assignment)))


def verifications(root: Path, assignment: str) -> list[Verification]:
    """All comparisons of verdicts with those of a second grading, by time; without those that compared none.

    Raises BadCourse if the course cannot be read.
    """
    if not _rows_of(root, "select 1 from sqlite_master where name = ?", "verifications"):  # of an older version
        return []
    rows = _rows_of(root, VERIFICATIONS, assignment)
    return [Verification(datetime.fromisoformat(at), *counts) for at, *counts in rows]


def _rows_of(root: Path, query: str, name: str) -> list[tuple]:
    """The rows for this name in the records; none without a file. Raises BadCourse if it cannot be read."""
    file = root.resolve() / FILE
    if not file.is_file():
        return []
    try:
        with open_read_only(file) as db:
            return db.execute(query, (name,)).fetchall()
    except sqlite3.Error as error:
        raise BadCourse(f"{file} cannot be read ({error}): are these the records of `autograder grade`?") from error


def _attempts(rows: Iterable[tuple]) -> Iterator[AttemptRecord]:
    timestamps: dict[str, list[str]] = {}
    for student, submission, at, result, regrade, committed, outcome in rows:
        seen = timestamps.setdefault(student, [])
        if submission not in seen:
            seen.append(submission)
        state = "" if committed else "discarded" if outcome == "discarded" else "not in the gradebook"
        verdicts = GradingRecord.from_bytes(result).verdicts
        number = seen.index(submission) + 1
        yield AttemptRecord(student, number, bool(regrade), datetime.fromisoformat(at), verdicts, state)


def table(assignment: str, attempts: Iterable[AttemptRecord], now: Mapping[str, str] | None = None) -> Table:
    """A row for each attempt: its points, then incomplete exercises of the first attempt and changes in later ones.

    now: a text with each student's current total in the gradebook.
    """
    shown = Table(title=f"{assignment}: every attempt", title_justify="left", box=None, pad_edge=False)
    for name in ("student", "attempt", "graded"):
        shown.add_column(name, no_wrap=True)
    shown.add_column("points", justify="right", no_wrap=True)
    shown.add_column("exercises", overflow="fold")
    by_student: dict[str, list[AttemptRecord]] = {}
    for one in attempts:
        by_student.setdefault(one.student, []).append(one)
    for student, own in by_student.items():
        for row in _rows(own):
            shown.add_row(*row)
        if now and student in now:
            shown.add_row("", "gradebook", "", *now[student].split(" = ", 1))
        shown.add_section()
    return shown


def _rows(attempts: Iterable[AttemptRecord]) -> Iterator[tuple[str, ...]]:
    before: dict[str, str] = {}
    for one in attempts:
        number = f"{one.number}{', regraded' * one.regrade}"
        when = one.at.astimezone().strftime("%Y-%m-%d %H:%M")
        what = "\n".join([*_state(one), *_changed(one, before)])
        yield escape(one.student), number, when, f"{one.score:g}/{one.max_score:g}", what
        before = {verdict["exercise"]: _mark(verdict) for verdict in one.verdicts}


def _state(attempt: AttemptRecord) -> list[str]:
    return [attempt.state] if attempt.state else []


def _changed(attempt: AttemptRecord, before: Mapping[str, str]) -> Iterator[str]:
    for verdict in attempt.verdicts:
        name, mark = verdict["exercise"], _mark(verdict)
        if not before and mark != f"{verdict['max_score']:g}":
            yield escape(f"{name} {mark}/{verdict['max_score']:g}")
        elif before and before.get(name, "none") != mark:
            yield f"[bold]{escape(name)} {before.get(name, 'none')} → {mark}[/]"


def totals(scores: Scores) -> dict[str, str]:
    """Student → `4.5/8 = 5 by the checks, 2 by hand, less 2.5 for late submission`, from the gradebook."""
    return {row.student: _total(row, scores.max_score) for row in scores.rows if row.total is not None}


def _total(row: StudentScores, most: float) -> str:
    parts = [f"{(row.raw or 0) - row.by_hand:g} by the checks"]
    parts += [f"{row.by_hand:g} by hand"] if row.by_hand else []
    parts += [f"less {row.penalty:g} for late submission"] if row.penalty else []
    parts += ["manual marks are missing"] if row.waits else []
    return f"{row.total:g}/{most:g} = {', '.join(parts)}"


def _mark(verdict: dict[str, Any]) -> str:
    return "?" if verdict["status"] == "not_graded" else f"{verdict['score']:g}"
