"""What the gradebook has no place for: the comments of each question, and who gave which mark when.

One SQLite file in the course directory, `marking.db`. Marks are only ever added, so the file is their history.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

FILE = "marking.db"
SCHEMA = """
create table if not exists comments (
  id integer primary key, assignment text not null, notebook text not null, cell text not null,
  text text not null, points real, by text not null, at text not null, dropped integer not null default 0);
create table if not exists marks (
  id integer primary key, assignment text not null, notebook text not null, cell text not null, student text not null,
  score real, comment text not null, chosen text not null, by text not null, at text not null);
create index if not exists marks_of on marks (assignment, notebook, cell, student);
"""
OF = "assignment = ? and notebook = ? and cell = ?"


class MarkedCell(NamedTuple):
    """A cell that is marked."""

    assignment: str
    notebook: str
    cell: str


@dataclass(frozen=True)
class BankComment:
    """A comment that markers share; `points` is what it adds, or None."""

    id: int
    text: str
    points: float | None
    by: str


@dataclass(frozen=True)
class Mark:
    """A mark that somebody gave on the page; `id` grows with every mark."""

    id: int
    student: str
    score: float | None
    comment: str
    chosen: tuple[int, ...]
    by: str
    at: str


class MarkingStore:
    """The file of one course; use it in a `with` statement."""

    def __init__(self, root: Path) -> None:
        self._db = sqlite3.connect(root / FILE, timeout=30, isolation_level=None)
        self._db.executescript(SCHEMA)

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

    def comments(self, of: MarkedCell) -> list[BankComment]:
        """The question's comments, in the order in which they were added."""
        rows = self._db.execute(f"select id, text, points, by from comments where {OF} and not dropped order by id", of)
        return [BankComment(*row) for row in rows]

    def seed(self, of: MarkedCell, items: Sequence[tuple[str, float | None]], by: str) -> None:
        """Add the items once: a question that has ever had a comment is left alone."""
        with self.alone():
            if not self._db.execute(f"select 1 from comments where {OF} limit 1", of).fetchone():
                for text, points in items:
                    self.add_comment(of, text, points, by)

    def add_comment(self, of: MarkedCell, text: str, points: float | None, by: str) -> int:
        """Add a comment to the bank -> its id."""
        cursor = self._db.execute(
            "insert into comments (assignment, notebook, cell, text, points, by, at) values (?, ?, ?, ?, ?, ?, ?)",
            (*of, text, points, by, _now()),
        )
        return int(cursor.lastrowid or 0)

    def drop_comment(self, of: MarkedCell, number: int) -> None:
        """Take a comment out of the bank; marks that were given with it keep their text."""
        self._db.execute(f"update comments set dropped = 1 where {OF} and id = ?", (*of, number))

    def marks(self, of: MarkedCell) -> dict[str, Mark]:
        """Student -> the last mark that was given on the page."""
        rows = self._db.execute(
            f"select id, student, score, comment, chosen, by, at from marks where {OF} order by id", of
        )
        return {
            student: Mark(number, student, score, comment, tuple(json.loads(chosen)), by, at)
            for number, student, score, comment, chosen, by, at in rows
        }

    def add_mark(
        self, of: MarkedCell, student: str, score: float | None, comment: str, chosen: Sequence[int], by: str
    ) -> None:
        """Note a mark that has been written into the gradebook."""
        self._db.execute(
            "insert into marks (assignment, notebook, cell, student, score, comment, chosen, by, at) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*of, student, score, comment, json.dumps(list(chosen)), by, _now()),
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
