"""`autograder forget`: removes what a course holds about one student, and names what it cannot reach.

What is found is listed before anything is removed. Tables that only grow are opened for this one purpose, and the
databases are rewritten afterwards, so that what was deleted is not left in their free pages.
"""

from __future__ import annotations

import csv
import glob
import io
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import AutogradeApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import notebook_hash
from sqlalchemy.engine import make_url

from autograder.capstone import results
from autograder.cluster.course import settings_of, working_in
from autograder.cluster.records import FILE as RECORDS
from autograder.cluster.records import Records, open_read_only
from autograder.maintenance.places import PREDICTIONS
from autograder.marking.store import FILE as MARKING
from autograder.nbgrader.config import PASSBACK, PERSONAL
from tfkit_course.small_file import NotSmallFile, has_name_of, read_small_text, reason

SECRET = "submission_secret.txt"
SECRET_BYTES = 4096
STUDENTS = "students.csv"  # docs/teaching.md: what `nbgrader db student import` reads
OF_STUDENT = "student = :student"
# table → the rows of a student; the answers to requests before the requests
ROWS = {
    RECORDS: {"records": OF_STUDENT, "commits": OF_STUDENT, "returns": OF_STUDENT},
    MARKING: {
        "answers": "request in (select id from requests where student = :student or sender = :student)",
        "requests": "student = :student or sender = :student",
        "marks": OF_STUDENT,
        "shares": OF_STUDENT,
    },
}
OURS = ("source", "release", "corpus", ".git", "course.key")  # in its root: of the course, not of anybody in it
SEARCHED_BYTES = 20 << 20
ID = re.compile(r"[^/\0]+")


class InvalidStudentId(Exception):
    """What was given cannot be the id of a student; the message says so in a line."""


@dataclass
class StudentData:
    """What a course holds about a student: entries of the gradebook, rows of tables, files and folders.

    paths: released pages first, which only the secrets in the submissions lead to. left: what is only named, because
    it holds others' data as well or lies elsewhere; unclear: files of which nobody can tell whether they name them.
    """

    student: str
    submissions: int | None = None  # None: the gradebook does not know the student
    rows: dict[tuple[str, str], int] = field(default_factory=dict)
    paths: list[Path] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)  # files with entries of several students, from which theirs go
    left: list[str] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.submissions is not None or self.rows or self.paths or self.entries)

    def lines(self, root: Path) -> Iterator[str]:
        """A line for each thing that is removed."""
        if self.submissions is not None:
            yield f"gradebook: the student, and {self.submissions} submissions with their marks and comments"
        yield from (f"{file}: {count} rows of {table}" for (file, table), count in self.rows.items())
        yield from (f"{name}: their entry" for name in self.entries)
        yield from (str(path.relative_to(root) if path.is_relative_to(root) else path) for path in self.paths)


def find(root: Path, student: str, environment: Mapping[str, str] = os.environ) -> StudentData:
    """What the course in `root` holds about the student. Raises InvalidStudentId for what is no id, and BadCourse.

    environment: names the folder of the live predictions, if there is one.
    """
    if not ID.fullmatch(student) or student in (".", "..", "*"):
        raise InvalidStudentId(f"{student!r} is not a student's id")
    app, data = settings_of(root), StudentData(student)
    with working_in(root):
        _read_gradebook(app, data)
        folders = [path.absolute() for path in dict.fromkeys(_folders(app, student))]
        pages = [path.absolute() for path in dict.fromkeys(_pages(app, folders))]
    for file, tables in ROWS.items():
        data.rows |= {(file, table): count for table, count in _count(root / file, tables, student) if count}
    predictions = environment.get(PREDICTIONS)
    live = sorted(Path(predictions).glob("*.json")) if predictions and os.access(predictions, os.R_OK) else []
    data.paths = [*pages, *folders, *(path for path in live if has_name_of(path, student))]
    if any(student in found for found in results.read(root).values()):
        data.entries.append(results.FILE)
    try:
        if _without_row(root / STUDENTS, student) is not None:
            data.entries.append(STUDENTS)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = reason(error) if isinstance(error, OSError | ValueError) else str(error)
        data.unclear.append(f"{STUDENTS}, which cannot be read ({why}): look for the student's row yourself")
    if (root / PASSBACK).is_file():
        data.unclear.append(f"{PASSBACK}, which has the learning management system's own ids in place of the course's: "
                            "look up the student's there, and remove its lines")  # fmt: skip
    data.left = list(_mentions(root, student, data))
    return data


def _read_gradebook(app: AutogradeApp, data: StudentData) -> None:
    """Notes how many submissions the gradebook has."""
    with Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        try:
            data.submissions = len(gradebook.find_student(data.student).submissions)
        except MissingEntry:
            data.submissions = None


def _folders(app: AutogradeApp, student: str) -> Iterator[Path]:
    """The student's folders of each step, whatever assignments the gradebook has, and what waits in the exchange."""
    coursedir = app.coursedir
    steps = (coursedir.submitted_directory, coursedir.autograded_directory, coursedir.feedback_directory, PERSONAL)
    for step in steps:
        yield from _folders_of_step(coursedir, step, student)
    exchange, course_id = app.config.Exchange, str(coursedir.course_id)
    for place in (Path(exchange.get("root", ""), course_id, "inbound"), Path(exchange.get("cache", ""), course_id)):
        yield from sorted(path for path in place.glob("*+*+*") if path.name.split("+")[0] == student)


def _folders_of_step(coursedir: CourseDirectory, step: str, student: str) -> Iterator[Path]:
    """`<step>/<student>` whole; one folder for each assignment if the course's `directory_structure` is another."""
    assignment = "\0"
    whole, _, rest = coursedir.format_path(step, student, assignment).rpartition(os.sep)
    if rest == assignment and Path(whole).name == student:
        yield from (path for path in (Path(whole),) if os.path.lexists(path))
    else:
        pattern = glob.escape(coursedir.format_path(step, student, assignment)).replace(assignment, "*")
        yield from map(Path, sorted(glob.glob(pattern)))


def _pages(app: AutogradeApp, folders: Sequence[Path]) -> Iterator[Path]:
    """The released pages, whose names are made of the secrets of the submissions."""
    released = Path(app.config.Exchange.get("root", "")) / str(app.coursedir.course_id) / "feedback"
    for folder in folders:
        for secret in sorted(folder.rglob(SECRET)):
            try:
                text = read_small_text(secret, SECRET_BYTES)
            except (OSError, ValueError):
                continue  # the student wrote something else there, to which no page belongs
            for notebook in sorted(secret.parent.glob("*.ipynb")):
                page = released / f"{notebook_hash(secret=text, notebook_id=notebook.stem)}.html"
                if page.is_file():
                    yield page


def _count(file: Path, tables: dict[str, str], student: str) -> Iterator[tuple[str, int]]:
    if not file.is_file():
        return
    with open_read_only(file) as db:
        there = {name for (name,) in db.execute("select name from sqlite_master where type = 'table'")}
        for table, rows in tables.items():
            if table in there:
                (count,) = db.execute(f"select count(*) from {table} where {rows}", {"student": student}).fetchone()
                yield table, int(count)


def _without_row(path: Path, student: str) -> str | None:
    """The text of students.csv without the student's rows; None if there are none, or no such file.

    Raises OSError, UnicodeDecodeError and csv.Error for a file that cannot be read.
    """
    if not path.is_file():
        return None
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    names = [name.strip() for name in rows[0]] if rows else []
    if "id" not in names:
        return None
    column = names.index("id")
    kept = [row for row in rows if len(row) <= column or row[column].strip() != student]
    if len(kept) == len(rows):
        return None
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(kept)
    return text.getvalue()


def _mentions(root: Path, student: str, data: StudentData) -> Iterator[str]:
    """Files of the course that have the student's id as a word, in their text or their name, and are not removed.

    Of a folder that is called as the student, only the folder.
    """
    word, removed = re.compile(rf"(?<![\w.-]){re.escape(student)}(?![\w-])"), {*data.paths}
    in_name = re.compile(rf"(?<![^\W_]){re.escape(student)}(?![^\W_])")
    for where, inner, names in os.walk(root):
        ours = OURS if Path(where) == root else ()
        inner[:] = sorted(name for name in inner if name not in ours and Path(where, name) not in removed)
        yield from (f"{Path(where, name).relative_to(root)}/, by its name" for name in inner if in_name.search(name))
        inner[:] = [name for name in inner if name != student]
        for path in (Path(where, name) for name in sorted(names) if name not in ours):
            if path in removed or path.suffix in (".db", ".zip") or str(path.relative_to(root)) in data.entries:
                continue
            try:
                text = read_small_text(path, SEARCHED_BYTES)
            except (UnicodeDecodeError, NotSmallFile, OSError):
                text = ""  # no text, or none that anybody wrote by hand
            place = path.relative_to(root)
            if found := word.search(text):
                yield f"{place}, line {text.count(chr(10), 0, found.start()) + 1}"
            elif in_name.search(path.name):
                yield f"{place}, by its name"


# -- removing ----------------------------------------------------------------------------------------------------------


def forget(root: Path, data: StudentData) -> list[str]:
    """Remove what was found, and return a few words for each file or folder that could not be removed.

    Rows and the gradebook come first, so that a folder of another account costs nothing else; whoever may remove it
    finds it in a second call. Raises CourseBusy, BadCourse and sqlite3.Error, before anything else is removed.
    """
    app, failures = settings_of(root), list[str]()
    with Records(root):  # nobody grades meanwhile, and writes the student's results again
        for name in {file for file, _ in data.rows}:
            _delete_rows(root / name, ROWS[name], data.student)
        if data.submissions is not None:
            with working_in(root), Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
                gradebook.remove_student(data.student)
            _vacuum(app.coursedir.db_url)
        for name in data.entries:
            _try(ENTRIES[name], root, data.student, name=name, failures=failures)
        for path in data.paths:
            _try(_remove, path, name=str(path), failures=failures)
    return failures


def _try(remove: Callable[..., None], *arguments: Any, name: str, failures: list[str]) -> None:
    try:
        remove(*arguments)
    except OSError as error:
        failures.append(f"{name}: {reason(error)}")


def _remove_row(root: Path, student: str) -> None:
    if (text := _without_row(root / STUDENTS, student)) is not None:
        (root / STUDENTS).write_text(text, encoding="utf-8")


ENTRIES = {results.FILE: results.remove, STUDENTS: _remove_row}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _delete_rows(file: Path, tables: dict[str, str], student: str) -> None:
    """Delete the student's rows, with the triggers off that keep the tables append-only, all at once."""
    with closing(sqlite3.connect(file, timeout=30, isolation_level=None)) as db:
        db.execute("pragma secure_delete = on")
        db.execute("begin immediate")
        there = {name for (name,) in db.execute("select name from sqlite_master where type = 'table'")}
        triggers = db.execute("select name, sql from sqlite_master where type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"drop trigger {name}")
        for table in (table for table in tables if table in there):
            db.execute(f"delete from {table} where {tables[table]}", {"student": student})
        for _, sql in triggers:
            db.execute(sql)
        db.execute("commit")
        db.execute("vacuum")


def _vacuum(url: str) -> None:
    """Rewrite a gradebook that is a file; a server's own program does it for its databases."""
    found = make_url(url)
    if found.get_backend_name() == "sqlite" and found.database:
        with closing(sqlite3.connect(found.database, timeout=30, isolation_level=None)) as db:
            db.execute("vacuum")
