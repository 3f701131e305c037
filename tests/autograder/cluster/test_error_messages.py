"""A full disk, a damaged or absent database, a folder of another user: one line, exit 2, and nothing lost."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import suppress

import pytest
from nbgrader.api import InvalidEntry
from sqlalchemy.exc import OperationalError

from autograder.cli import main
from autograder.cluster import command, pool
from autograder.cluster.course import BadCourse, Course
from autograder.cluster.gradebook import GradebookWriter
from autograder.cluster.job import GradingRecord, grade
from autograder.cluster.records import Records
from autograder.console import error_messages

from .conftest import UNIT
from .test_student_files import FULL, HerePool, here


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments)])
    return end.value.code, capsys.readouterr().err


COMMANDS = {
    "grade": (),
    "export": ("--to", "csv", "-o", "scores.csv"),
    "report": ("-o", "report.html"),
    "similarity": ("-o", "similar.html"),
}


@pytest.fixture
def graded(course):
    """A course with one graded student, and what grading it once more takes."""
    course.hand_in("ada", course.released())
    opened = Course(course.root, UNIT)
    (submission,) = opened.submissions()
    record = GradingRecord.from_bytes(grade(opened.bundle(submission)))
    with GradebookWriter(opened) as writer:
        writer.write(record, submission.folder)
    return course, record, submission.folder


def test_a_damaged_or_absent_gradebook_is_said_in_a_line(graded, capsys):
    course, _, _ = graded
    (course.root / "gradebook.db").write_text("not a database, whatever its name says" * 100)
    for name, more in COMMANDS.items():
        code, said = run(capsys, name, course.root, UNIT, *more)
        assert code == 2 and "file is not a database: it is damaged" in said and said.count("\n") == 1, (name, said)
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write('\nc.CourseDirectory.db_url = "postgresql+psycopg://nobody@127.0.0.1:9/grades"\n')
    pytest.importorskip("psycopg", reason="no driver for PostgreSQL here: pip install 'psycopg[binary]'")
    for name, more in COMMANDS.items():
        code, said = run(capsys, name, course.root, UNIT, *more)
        assert code == 2 and "refused" in said and "db_url" in said and said.count("\n") == 1, (name, said)
    assert not (course.root / "scores.csv").exists() and not (course.root / "report.html").exists()


def test_damaged_records_are_said_in_a_line(graded, capsys):
    course, _, _ = graded
    (course.root / "records.db").write_text("not a database, whatever its name says" * 100)
    code, said = run(capsys, "grade", course.root, UNIT)
    assert code == 2 and "records.db" in said and "not a database" in said and said.count("\n") == 1


def test_a_disk_that_is_full_leaves_the_graded_folder_and_the_rows_that_were_there(graded, monkeypatch):
    course, record, folder = graded
    kept = lambda: {path: path.read_bytes() for path in (course.root / "autograded").rglob("*") if path.is_file()}
    before = kept()
    path = course.root / "autograded" / "ada" / UNIT / f"{UNIT}.ipynb"
    with GradebookWriter(Course(course.root, UNIT)) as writer:
        for broken in ("_given_files", "_rows"):
            with monkeypatch.context() as patched:
                patched.setattr(writer, broken, lambda *_: exec("raise OSError(28, 'No space left on device')"))
                with pytest.raises(OSError, match="No space left"):
                    writer.write(record, folder)
            assert kept() == before
        writer.write(record, folder)
    assert path.is_file() and len(list(path.parent.parent.iterdir())) == 1


STOPS = {
    "gradebook": "database or disk is full: free some space on that disk",
    "records": "database or disk is full: free some space on that disk",
    "files": "No space left on device: free some space there",
}


def fill(place, course, monkeypatch):
    """From the second submission on the disk is full: for one of the two databases, or for the graded files."""
    written, write, add, files = [], GradebookWriter.write, Records.add, GradebookWriter._files

    def full_gradebook(self, record, folder):
        written.append(record)
        if len(written) > 1:
            self._connection.exec_driver_sql("pragma max_page_count = 1")  # SQLite leaves it at what the file has
            self._connection.exec_driver_sql("create table filler (x)")
            with suppress(OperationalError):
                for size in (*[1000] * 200, *[10] * 500):
                    self._connection.exec_driver_sql(f"insert into filler values (zeroblob({size}))")
                    self._connection.commit()
            self._connection.rollback()
        return write(self, record, folder)

    def full_records(self, round, record):
        written.append(record)
        if len(written) > 1:
            self._db.execute("pragma max_page_count = 1")
            record.notebooks["padding"] = "".join(map(chr, range(300, 40_000)))
        return add(self, round, record)

    def full_files(self, record, target):
        files(self, record, target)
        written.append(record)
        if len(written) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target / "x.ipynb"))

    monkeypatch.setattr(*{
        "gradebook": (GradebookWriter, "write", full_gradebook),
        "records": (Records, "add", full_records),
        "files": (GradebookWriter, "_files", full_files),
    }[place])  # fmt: skip


@pytest.mark.parametrize("place", STOPS)
def test_a_disk_that_fills_in_mid_run_is_one_line_and_can_be_resumed(course, capsys, caplog, monkeypatch, place):
    students = ("ada", "ben", "cleo")
    for student in students:
        course.hand_in(student, course.released())
    with monkeypatch.context() as patched, here(HerePool()):
        fill(place, course, patched)
        code, said = run(capsys, "grade", course.root, UNIT, "--workers", "1")
    assert code == 2 and said.count("\n") == 1 and STOPS[place] in said, said
    assert "Traceback" not in caplog.text
    assert course.grades("ada") == FULL
    with here(HerePool()):
        code, said = run(capsys, "grade", course.root, UNIT, "--workers", "1", "--resume")
    assert (code, said) == (0, "")
    assert all(course.grades(student) == FULL for student in students)
    assert sorted(course.records()) == sorted(students)


def test_what_sqlite_and_the_system_say_gets_advice(tmp_path):
    db = sqlite3.connect(tmp_path / "full.db")
    db.execute("create table t (x)")
    db.execute("pragma max_page_count = 2")
    with pytest.raises(sqlite3.OperationalError) as error:
        db.execute("insert into t values (zeroblob(100000))")
    assert error_messages.explain(error.value, "here") == "here: database or disk is full: free some space on that disk"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/there")
    assert error_messages.explain(full, "here") == "/there: No space left on device: free some space there"
    assert (
        error_messages.explain(PermissionError(errno.EACCES, "Permission denied", "/x"), "") == "/x: Permission denied"
    )
    assert error_messages.explain(ValueError("a fault of ours"), "here") is None


def test_what_nbgrader_raises_in_place_of_the_databases_error_is_told_as_that_one():
    """It does so where it updates a submission; the class of the exception is the one of a wrong name."""
    with pytest.raises(InvalidEntry) as raised:
        try:
            raise OperationalError("insert", {}, sqlite3.OperationalError("database or disk is full"))
        except OperationalError as error:
            raise InvalidEntry(*error.args)  # noqa: B904 (as in nbgrader.api)
    assert error_messages.explain(raised.value, "g") == "g: database or disk is full: free some space on that disk"
    assert error_messages.explain(InvalidEntry("no such cell"), "g") is None


@pytest.mark.parametrize(
    "address, open_to_others",
    [
        ("tcp://10.0.0.5:8786", True), ("10.0.0.5:8786", True), ("tcp://grader.example.edu:8786", True),
        ("tcp://[fe80::1]:8786", True), ("ws://10.0.0.5:80/x", True), ("tls://10.0.0.5:8786", False),
        ("tcp://127.0.0.1:8786", False), ("localhost:8786", False), ("tcp://[::1]:8786", False),
    ],
)  # fmt: skip
def test_a_scheduler_that_others_can_listen_to_is_known(address, open_to_others):
    assert pool.is_open(address) is open_to_others


def test_a_scheduler_without_tls_elsewhere_is_refused_unless_asked_for(course, capsys):
    course.hand_in("ada", course.released())
    code, said = run(capsys, "grade", course.root, UNIT, "--scheduler", "tcp://10.0.0.5:8786")
    assert code == 2 and "nothing was sent: use a tls:// address" in said and said.count("\n") == 1
    with pytest.raises(BadCourse, match="nothing was sent"):
        command.grade(command.Options(course.root, UNIT, scheduler="10.0.0.5:8786"), command.Console())
