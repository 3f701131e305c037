"""What the gradebook has no place for: who gave which mark when, what students asked, and who marks what.

One SQLite file in the course directory, `marking.db`. Rows are only ever added, which triggers in the file see to, so
the file is also the history of the marking.
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


class MarkedCell(NamedTuple):
    """A cell that is marked."""

    assignment: str
    notebook: str
    cell: str


@dataclass(frozen=True)
class Mark:
    """A mark that somebody gave on the page; `id` grows with every mark.

    `own` is what the marker wrote besides the chosen items, `more` what the score adds to their points.
    """

    id: int
    student: str
    score: float | None
    comment: str
    chosen: tuple[int, ...]
    own: str
    more: float
    by: str
    at: str


@dataclass(frozen=True)
class NewRequest:
    """What a student asks: to look at a question again, for a reason; `sender` is the account that owns `file`."""

    of: MarkedCell
    student: str
    reason: str
    sender: str
    file: str
    at: str


@dataclass(frozen=True)
class RegradeRequest:
    """A request that was received, and its answer where there is one: accepted or declined, with a sentence."""

    id: int
    of: MarkedCell
    student: str
    reason: str
    sender: str
    at: str
    accepted: bool | None
    sentence: str
    by: str


class MarkingStore:
    """The file of one course; use it in a `with` statement."""

    def __init__(self, root: Path) -> None:
        self._db = sqlite3.connect(root / FILE, timeout=30, isolation_level=None)
        triggers = (APPEND_ONLY.format(table=table, verb=verb) for table in TABLES for verb in ("update", "delete"))
        self._db.executescript(SCHEMA + "".join(triggers))

    def __enter__(self) -> MarkingStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No other marker writes inside the block; all of it is kept, or nothing."""
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def marks(self, of: MarkedCell) -> dict[str, Mark]:
        """Student -> the last mark that was given on the page."""
        return {mark.student: mark for mark in self.all_marks(of)}

    def all_marks(self, of: MarkedCell) -> list[Mark]:
        """Every mark of the question, in the order in which they were given."""
        rows = self._db.execute(
            f"select id, student, score, comment, chosen, own, more, by, at from marks where {OF} order by id", of
        )
        return [
            Mark(number, student, score, comment, tuple(json.loads(chosen)), own, more, by, at)
            for number, student, score, comment, chosen, own, more, by, at in rows
        ]

    def add_mark(
        self, of: MarkedCell, student: str, score: float | None, comment: str, by: str, *,
        chosen: Sequence[int] = (), own: str = "", more: float = 0.0,
    ) -> None:  # fmt: skip
        """Note a mark that has been written into the gradebook."""
        self._db.execute(
            "insert into marks (assignment, notebook, cell, student, score, comment, chosen, own, more, by, at) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*of, student, score, comment, json.dumps(list(chosen)), own, more, by, _now()),
        )

    def add_change(self, of: MarkedCell, what: str, item: str, marks: int, by: str) -> None:
        """Note that the rubric was changed, and how many marks that changed."""
        self._db.execute(
            "insert into changes (assignment, notebook, cell, what, item, marks, by, at)"
            " values (?, ?, ?, ?, ?, ?, ?, ?)",
            (*of, what, item, marks, by, _now()),
        )

    def changes(self, of: MarkedCell) -> list[dict[str, Any]]:
        """The changes of the question's rubric, in their order: what, item, marks, by and at."""
        rows = self._db.execute(f"select what, item, marks, by, at from changes where {OF} order by id", of)
        return [dict(zip(("what", "item", "marks", "by", "at"), row, strict=True)) for row in rows]

    # -- requests ------------------------------------------------------------------------------------------------------
    def add_request(self, new: NewRequest) -> None:
        """Keep a request; one whose file is known already is kept once."""
        self._db.execute(
            "insert or ignore into requests (assignment, notebook, cell, student, reason, sender, file, at) "
            "values (?, ?, ?, ?, ?, ?, ?, ?)",
            (*new.of, new.student, new.reason, new.sender, new.file, new.at),
        )

    def request_files(self) -> set[str]:
        """The files of all requests that are kept."""
        return {file for (file,) in self._db.execute("select file from requests")}

    def requests(self) -> list[RegradeRequest]:
        """Every request, the first one first."""
        rows = self._db.execute(
            "select r.id, r.assignment, r.notebook, r.cell, r.student, r.reason, r.sender, r.at, a.accepted,"
            " coalesce(a.sentence, ''), coalesce(a.by, '') from requests r left join answers a on a.request = r.id"
            " order by r.id"
        )
        return [
            RegradeRequest(number, MarkedCell(assignment, notebook, cell), student, reason, sender, at,
                           None if accepted is None else bool(accepted), sentence, by)
            for number, assignment, notebook, cell, student, reason, sender, at, accepted, sentence, by in rows
        ]  # fmt: skip

    def add_answer(self, request: int, accepted: bool, sentence: str, by: str) -> None:
        """Keep the answer to a request. Raises sqlite3.IntegrityError where it has one."""
        self._db.execute("insert into answers values (?, ?, ?, ?, ?)", (request, accepted, sentence, by, _now()))

    def answered_at(self) -> dict[int, str]:
        """Request -> when it was answered."""
        return dict(self._db.execute("select request, at from answers"))

    # -- shares --------------------------------------------------------------------------------------------------------
    def shares(self, of: MarkedCell) -> dict[str, str]:
        """Student -> who marks their answer, where that was said."""
        return dict(self._db.execute(f"select student, marker from shares where {OF} order by id", of))

    def add_shares(self, of: MarkedCell, shares: dict[str, str], by: str) -> None:
        """Say who marks whose answer; "" is nobody in particular."""
        self._db.executemany(
            "insert into shares (assignment, notebook, cell, student, marker, by, at) values (?, ?, ?, ?, ?, ?, ?)",
            [(*of, student, marker, by, _now()) for student, marker in shares.items()],
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
