"""A grader's storage on disk: an append-only SQLite file that contains each record once, complete or not at all.

A *round* is one run of `autograder grade` over an assignment; it stays open until all of it is in the gradebook, so a
round that was killed can be resumed. Records of all rounds are kept as the history of attempts.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.cluster.bundle import Key
from autograder.cluster.job import GradingRecord
from tfkit_course.formats import RECORDS, is_newer, too_new

FILE, LOCK = "records.db", "records.lock"
SCHEMA = """
create table if not exists rounds (
  number integer primary key, assignment text not null, regrade integer not null, started text not null);
create table if not exists ends (
  round integer primary key references rounds, outcome text not null, at text not null);
create table if not exists records (
  round integer not null references rounds, student text not null, assignment text not null, submission text not null,
  checks text not null, result blob not null, at text not null,
  primary key (round, student, assignment, submission, checks)) without rowid;
create table if not exists commits (
  round integer not null, student text not null, assignment text not null, submission text not null,
  checks text not null, at text not null,
  primary key (round, student, assignment, submission, checks)) without rowid;
create table if not exists returns (
  round integer not null, student text not null, assignment text not null, at text not null,
  primary key (assignment, student, round)) without rowid;
create table if not exists verifications (
  assignment text not null, at text not null, verdicts integer not null, equal integer not null);
"""
TABLES = ("rounds", "ends", "records", "commits", "returns", "verifications")
APPEND_ONLY = """
create trigger if not exists {table}_{verb} before {verb} on {table}
begin select raise(abort, '{table} is append-only'); end;
"""
ROW = "round = ? and student = ? and assignment = ? and submission = ? and checks = ?"


class CourseBusy(RuntimeError):
    """Another grader is running on this course."""


@dataclass(frozen=True)
class Round:
    """One run over an assignment."""

    number: int
    assignment: str
    regrade: bool


class LedgerConnection(sqlite3.Connection):
    """A connection that adds a note with the file's name to its errors."""

    def __init__(self, path: Path, **options: Any) -> None:
        self._path = path
        with self._name_file_in_errors():
            super().__init__(path, **options)

    @contextmanager
    def _name_file_in_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            error.add_note(str(self._path))
            raise

    def execute(self, *words: Any) -> sqlite3.Cursor:
        """See the parent class."""
        with self._name_file_in_errors():
            return super().execute(*words)

    def executescript(self, script: str) -> sqlite3.Cursor:
        """See the parent class."""
        with self._name_file_in_errors():
            return super().executescript(script)


class Records:
    """The file `records.db` of a course directory, locked by one grader at a time: use `with`.

    alone: whether nobody else may grade the course meanwhile; then raises CourseBusy if somebody does.
    """

    def __init__(self, course: Path, alone: bool = True) -> None:
        self._lock = os.open(course / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if alone:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the kernel releases it, however it ends
        except OSError:
            os.close(self._lock)
            raise CourseBusy(f"another `autograder grade` is running on {course}: wait for it, or stop it") from None
        self._db = LedgerConnection(course / FILE, isolation_level=None)
        self._refuse_newer(course / FILE)
        self._db.executescript(SCHEMA)
        for table in TABLES:
            for verb in ("update", "delete"):
                self._db.execute(APPEND_ONLY.format(table=table, verb=verb))
        self._db.execute(f"pragma user_version = {RECORDS.version}")

    def _refuse_newer(self, path: Path) -> None:
        """Raise sqlite3.DatabaseError if a later release wrote the file, whose tables this one may misread."""
        (version,) = self._db.execute("pragma user_version").fetchone()
        if is_newer(version, RECORDS):
            self.__exit__()
            error = sqlite3.DatabaseError(too_new("it", version, RECORDS))
            error.add_note(str(path))
            raise error

    def __enter__(self) -> Records:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()
        os.close(self._lock)

    # -- rounds --------------------------------------------------------------------------------------------------------
    def open_round(self, assignment: str) -> Round | None:
        """The unfinished round of this assignment, if there is one."""
        row = self._db.execute(
            "select number, assignment, regrade from rounds where assignment = ?"
            " and number not in (select round from ends) order by number desc",
            (assignment,),
        ).fetchone()
        return Round(row[0], row[1], bool(row[2])) if row else None

    def begin_round(self, assignment: str, regrade: bool) -> Round:
        """Start a new round of grading."""
        done = self._db.execute(
            "insert into rounds (assignment, regrade, started) values (?, ?, ?)", (assignment, regrade, _now())
        )
        assert done.lastrowid is not None
        return Round(done.lastrowid, assignment, regrade)

    def end_round(self, round: Round, outcome: str) -> None:
        """End the round as `committed`, `discarded` (nothing of it reached the gradebook) or `abandoned`."""
        self._db.execute("insert or ignore into ends values (?, ?, ?)", (round.number, outcome, _now()))

    # -- records -------------------------------------------------------------------------------------------------------
    def add(self, round: Round, record: GradingRecord) -> bool:
        """Store the record; False if this round has it already, as after a job that was completed twice."""
        done = self._db.execute(
            "insert or ignore into records values (?, ?, ?, ?, ?, ?, ?)",
            (round.number, *record.key, record.to_bytes(), _now()),
        )
        return done.rowcount == 1

    def get(self, round: Round, key: Key) -> GradingRecord | None:
        """The record of this round under this key."""
        row = self._db.execute(f"select result from records where {ROW}", (round.number, *key)).fetchone()
        return GradingRecord.from_bytes(row[0]) if row else None

    def keys(self, round: Round) -> set[Key]:
        """The keys of this round's records."""
        rows = self._db.execute(
            "select student, assignment, submission, checks from records where round = ?", (round.number,)
        )
        return {Key(*row) for row in rows}

    # -- what has reached the gradebook --------------------------------------------------------------------------------
    def mark_committed(self, round: Round, key: Key) -> None:
        """Record that the grades are in the gradebook. A grader killed before that writes the same grades again."""
        self._db.execute("insert or ignore into commits values (?, ?, ?, ?, ?, ?)", (round.number, *key, _now()))

    def uncommitted_keys(self, round: Round) -> set[Key]:
        """Keys of this round's records that are not known to be in the gradebook."""
        rows = self._db.execute(
            "select student, assignment, submission, checks from commits where round = ?", (round.number,)
        )
        return self.keys(round) - {Key(*row) for row in rows}

    def current_keys(self, assignment: str) -> dict[str, Key]:
        """Student → the key of the record that reached the gradebook last."""
        rows = self._db.execute(
            "select student, assignment, submission, checks from commits where assignment = ? order by round, at",
            (assignment,),
        )
        return {row[0]: Key(*row) for row in rows}

    # -- what has gone back to students --------------------------------------------------------------------------------
    def feedback_due(self, assignment: str) -> dict[str, int]:
        """Student → the round of their last grade, where its feedback was not returned yet, in the order of grading."""
        rows = self._db.execute(
            "select c.student, max(c.round) from commits c where c.assignment = ? group by c.student"
            " having max(c.round) not in"
            " (select r.round from returns r where r.assignment = ? and r.student = c.student) order by max(c.at)",
            (assignment, assignment),
        )
        return dict(rows)

    def mark_returned(self, assignment: str, student: str, round: int) -> None:
        """Record that the feedback for the student's grade of this round was released."""
        self._db.execute("insert or ignore into returns values (?, ?, ?, ?)", (round, student, assignment, _now()))

    # -- what was graded again -----------------------------------------------------------------------------------------
    def add_verification(self, assignment: str, verdicts: int, equal: int) -> None:
        """Store how many verdicts were graded again, and how many of them were equal."""
        self._db.execute("insert into verifications values (?, ?, ?, ?)", (assignment, _now(), verdicts, equal))


def open_read_only(file: Path, timeout_s: float = 30.0) -> closing[sqlite3.Connection]:
    """A database for `with`, which closes it: it is not created where it is missing, and a writer is waited for.

    Raises sqlite3.Error if it cannot be opened.
    """
    return closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=timeout_s))


def graded_before(course: Path, assignment: str) -> int:
    """How many grades of the assignment reached the gradebook, by the records of this course; 0 without any."""
    file = course / FILE
    if not file.is_file():
        return 0
    with open_read_only(file) as db:
        there = db.execute("select count(*) from sqlite_master where name = 'commits'").fetchone()[0]
        query = "select count(*) from commits where assignment = ?"
        return int(db.execute(query, (assignment,)).fetchone()[0]) if there else 0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
