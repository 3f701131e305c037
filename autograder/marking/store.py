"""Stores what the gradebook cannot: who gave which mark and when, regrade requests, and who marks which answer.

One SQLite file in the course directory, `marking.db`. Triggers in the file make its tables append-only, so it is also
the history of the marking.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tfkit_course.formats import MARKING, is_newer, too_new

FILE = "marking.db"
SCHEMA = """
create table if not exists marks (
  id integer primary key, assignment text not null, notebook text not null, cell text not null, student text not null,
  score real, comment text not null, chosen text not null, own text not null, more real not null,
  by text not null, at text not null);
create index if not exists marks_of on marks (assignment, notebook, cell, student);
create table if not exists requests (
  id integer primary key, assignment text not null, notebook text not null, cell text not null, student text not null,
  reason text not null, sender text not null, file text not null unique, at text not null);
create table if not exists answers (
  request integer primary key references requests (id), accepted integer not null, sentence text not null,
  by text not null, at text not null);
create table if not exists shares (
  id integer primary key, assignment text not null, notebook text not null, cell text not null, student text not null,
  marker text not null, by text not null, at text not null);
create index if not exists shares_of on shares (assignment, notebook, cell, student);
create table if not exists changes (
  id integer primary key, assignment text not null, notebook text not null, cell text not null,
  what text not null, item text not null, marks integer not null, by text not null, at text not null);
"""
APPEND_ONLY = """
create trigger if not exists {table}_{verb} before {verb} on {table}
begin select raise(abort, '{table} is append-only'); end;
"""
TABLES = ("marks", "requests", "answers", "shares", "changes")
OF = "assignment = ? and notebook = ? and cell = ?"


class BadMark(Exception):
    """The gradebook or a mark cannot be read or written; the message says why."""


class MarkedCell(NamedTuple):
    """The address of a graded cell: assignment, notebook and grade id."""

    assignment: str
    notebook: str
    cell: str


@dataclass(frozen=True)
class Mark:
    """A mark that a person gave on the page; `id` grows with every mark.

    `own` is the marker's own text besides the chosen items, `extra` the difference between the score and their points.
    """

    id: int
    student: str
    score: float | None
    comment: str
    chosen: tuple[int, ...]
    own: str
    extra: float
    author: str
    at: str


@dataclass(frozen=True)
class NewRequest:
    """A student's regrade request: the question and the reason; `sender` is the account that owns `file`."""

    of: MarkedCell
    student: str
    reason: str
    sender: str
    file: str
    at: str


@dataclass(frozen=True)
class RegradeRequest:
    """A request that was received, and its answer if there is one: accepted or declined, with a sentence."""

    id: int
    of: MarkedCell
    student: str
    reason: str
    sender: str
    at: str
    accepted: bool | None
    sentence: str
    author: str


class MarkingStore:
    """The marking database of one course, created if it does not exist; use it in a `with` statement. Raises BadMark
    for a file with the tables of another version."""

    def __init__(self, root: Path) -> None:
        self._db = sqlite3.connect(root / FILE, timeout=30, isolation_level=None)
        found = "select (select user_version from pragma_user_version), (select count(*) from sqlite_master)"
        version, tables = self._db.execute(found).fetchone()
        if not tables:
            self._create()
        elif version != MARKING.version:
            self._db.close()
            earlier = (
                f"{root / FILE} is older than every release (format {version}): rename the file, and a new one is begun"
            )
            raise BadMark(too_new(str(root / FILE), version, MARKING) if is_newer(version, MARKING) else earlier)

    def _create(self) -> None:
        """All tables at once; where two processes do it, the second changes nothing."""
        triggers = (APPEND_ONLY.format(table=table, verb=verb) for table in TABLES for verb in ("update", "delete"))
        tables = SCHEMA + "".join(triggers)
        self._db.executescript(f"begin immediate; {tables} pragma user_version = {MARKING.version}; commit;")

    def __enter__(self) -> MarkingStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction for a `with` block: no other marker can write meanwhile, and an exception rolls it back."""
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def marks(self, of: MarkedCell) -> dict[str, Mark]:
        """The last mark of each student that was given on the page."""
        return {mark.student: mark for mark in self.all_marks(of)}

    def all_marks(self, of: MarkedCell) -> list[Mark]:
        """Every mark of the question, oldest first."""
        rows = self._db.execute(
            f"select id, student, score, comment, chosen, own, more, by, at from marks where {OF} order by id", of
        )
        return [
            Mark(number, student, score, comment, tuple(json.loads(chosen)), own, extra, author, at)
            for number, student, score, comment, chosen, own, extra, author, at in rows
        ]

    def add_mark(
        self, of: MarkedCell, student: str, score: float | None, comment: str, author: str, *,
        chosen: Sequence[int] = (), own: str = "", extra: float = 0.0,
    ) -> None:  # fmt: skip
        """Record a mark that has been written to the gradebook."""
        self._db.execute(
            "insert into marks (assignment, notebook, cell, student, score, comment, chosen, own, more, by, at) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*of, student, score, comment, json.dumps(list(chosen)), own, extra, author, _now()),
        )

    def add_change(self, of: MarkedCell, what: str, item: str, marks: int, author: str) -> None:
        """Record a change of the rubric, and how many marks it changed."""
        self._db.execute(
            "insert into changes (assignment, notebook, cell, what, item, marks, by, at)"
            " values (?, ?, ?, ?, ?, ?, ?, ?)",
            (*of, what, item, marks, author, _now()),
        )

    def changes(self, of: MarkedCell) -> list[dict[str, Any]]:
        """The changes of the question's rubric, oldest first: what, item, marks, by and at."""
        rows = self._db.execute(f"select what, item, marks, by, at from changes where {OF} order by id", of)
        return [dict(zip(("what", "item", "marks", "by", "at"), row, strict=True)) for row in rows]

    # -- requests ------------------------------------------------------------------------------------------------------
    def add_request(self, new: NewRequest) -> None:
        """Store a request; one whose file is already stored is ignored."""
        self._db.execute(
            "insert or ignore into requests (assignment, notebook, cell, student, reason, sender, file, at) "
            "values (?, ?, ?, ?, ?, ?, ?, ?)",
            (*new.of, new.student, new.reason, new.sender, new.file, new.at),
        )

    def request_files(self) -> set[str]:
        """The files of all stored requests."""
        return {file for (file,) in self._db.execute("select file from requests")}

    def requests(self) -> list[RegradeRequest]:
        """Every request, oldest first."""
        rows = self._db.execute(
            "select r.id, r.assignment, r.notebook, r.cell, r.student, r.reason, r.sender, r.at, a.accepted,"
            " coalesce(a.sentence, ''), coalesce(a.by, '') from requests r left join answers a on a.request = r.id"
            " order by r.id"
        )
        return [
            RegradeRequest(number, MarkedCell(assignment, notebook, cell), student, reason, sender, at,
                           None if accepted is None else bool(accepted), sentence, author)
            for number, assignment, notebook, cell, student, reason, sender, at, accepted, sentence, author in rows
        ]  # fmt: skip

    def add_answer(self, request: int, accepted: bool, sentence: str, author: str) -> None:
        """Store the answer to a request. Raises sqlite3.IntegrityError if the request was answered before."""
        self._db.execute("insert into answers values (?, ?, ?, ?, ?)", (request, accepted, sentence, author, _now()))

    def answered_at(self) -> dict[int, str]:
        """The time at which each answered request was answered."""
        return dict(self._db.execute("select request, at from answers"))

    # -- shares --------------------------------------------------------------------------------------------------------
    def shares(self, of: MarkedCell) -> dict[str, str]:
        """The marker of each student's answer, as far as answers are assigned."""
        return dict(self._db.execute(f"select student, marker from shares where {OF} order by id", of))

    def add_shares(self, of: MarkedCell, shares: dict[str, str], author: str) -> None:
        """Assign each student's answer to a marker; "" assigns it to nobody."""
        self._db.executemany(
            "insert into shares (assignment, notebook, cell, student, marker, by, at) values (?, ?, ?, ?, ?, ?, ?)",
            [(*of, student, marker, author, _now()) for student, marker in shares.items()],
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
