"""A class in which many hand in something odd: each file costs its owner at most, is told in a line, and is told again
when a run that was stopped is continued."""

from __future__ import annotations

import io
import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder import sandbox
from autograder.cluster import command, job, student_files
from autograder.cluster import pool as pools
from autograder.cluster.pool import JobOutcome
from autograder.nbgrader import execute

from ..nbgrader.conftest import HERE as FAKE
from ..nbgrader.conftest import IDS, POINTS, UNIT
from .conftest import HERE, Class

FULL = {exercise: (POINTS, False) for exercise in IDS}
ZERO = {exercise: (0.0, False) for exercise in IDS}
WAITS = {exercise: (0.0, True) for exercise in IDS}
ANSWER = f"solution-{IDS[0].replace('.', '-')}"
NOTEBOOK, PREDICTIONS, QUESTIONS = f"{UNIT}.ipynb", ".tfkit/predictions.json", ".tfkit/questions.json"


class HerePool:
    """A pool whose one worker is this process; after `most` submissions Ctrl-C is pressed."""

    def __init__(self, most=1000):
        self.most = most

    def slots(self):
        return 1

    def grade(self, work):
        for one in work:
            if self.most == 0:
                raise KeyboardInterrupt
            self.most -= 1
            yield JobOutcome(one.key, job.GradingRecord.from_bytes(job.grade(one.bundle())))


def timestamp(content):
    return lambda folder: (folder / "timestamp.txt").write_bytes(content)


def notebook(content):
    return lambda folder: (folder / NOTEBOOK).write_bytes(content)


def made(name, make):
    """What stands in place of the file `name`: it is deleted first."""

    def put(folder):
        path = folder / name
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path)

    return put


def deep(folder):
    """A folder in a folder in a folder …, as long as a path may be, which is too long for its copy."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def renamed(name):
    return lambda folder: (folder / NOTEBOOK).rename(folder / name)


def encoded(encoding):
    return lambda folder: notebook((folder / NOTEBOOK).read_text(encoding="utf-8").encode(encoding))(folder)


def equal_ids(folder):
    nb = json.loads((folder / NOTEBOOK).read_text(encoding="utf-8"))
    for cell in nb["cells"]:
        cell["id"] = "same"
    (folder / NOTEBOOK).write_text(json.dumps(nb), encoding="utf-8")


def answered_twice(folder):
    nb = json.loads((folder / NOTEBOOK).read_text(encoding="utf-8"))
    (answer,) = (cell for cell in nb["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == ANSWER)
    nb["cells"] += [{**answer, "id": f"copy-{number}"} for number in range(3)]
    (folder / NOTEBOOK).write_text(json.dumps(nb), encoding="utf-8")


def link_to_key(path):
    path.symlink_to(path.parents[3] / "course.key")


@dataclass(frozen=True)
class Odd:
    """What a student does to a right submission, the grades that follow, and what the instructor reads."""

    change: object
    grades: dict = None
    said: str = ""


LATE = "whether it is late is for you to decide"
NONE = f"no notebook {NOTEBOOK} (found: {{}})"
DELETED = "links and special files were deleted: {}"
CLASS = {
    "time-words": Odd(timestamp(b"yesterday, about noon"), FULL, LATE),
    "time-bytes": Odd(timestamp(b"\xff\xfe\x00"), FULL, LATE),
    "time-huge": Odd(timestamp(b"9" * 3_000_000), FULL, LATE),
    "time-empty": Odd(timestamp(b""), FULL, LATE),
    "time-folder": Odd(made("timestamp.txt", lambda path: path.mkdir()), FULL, LATE),
    "time-fifo": Odd(made("timestamp.txt", os.mkfifo), FULL, DELETED.format("timestamp.txt")),
    "time-link": Odd(made("timestamp.txt", link_to_key), FULL, DELETED.format("timestamp.txt")),
    "nb-cut": Odd(notebook(b'{"cells": ['), ZERO, "it is not a Jupyter notebook"),
    "nb-empty": Odd(notebook(b""), ZERO, "it is not a Jupyter notebook"),
    "nb-bytes": Odd(notebook(b"\x80\x81\x82" * 30), ZERO, "it is not a Jupyter notebook"),
    "nb-huge": Odd(made(NOTEBOOK, lambda path: (path.touch(), os.truncate(path, 60 << 20))), ZERO, "larger than 50 MB"),
    "nb-bom": Odd(encoded("utf-8-sig"), FULL),
    "nb-utf16": Odd(encoded("utf-16"), FULL),
    "nb-folder": Odd(made(NOTEBOOK, lambda path: path.mkdir()), ZERO, "it is a folder, not a file"),
    "nb-fifo": Odd(made(NOTEBOOK, os.mkfifo), WAITS, NONE.format("nothing")),
    "nb-link": Odd(made(NOTEBOOK, link_to_key), WAITS, NONE.format("nothing")),
    "nb-second": Odd(renamed(f"{UNIT} (1).ipynb"), WAITS, NONE.format(f"{UNIT} (1).ipynb")),
    "nb-none": Odd(lambda folder: (folder / NOTEBOOK).unlink(), WAITS, NONE.format("nothing")),
    "nb-zip": Odd(renamed("work.zip"), WAITS, NONE.format("work.zip")),
    "nb-lines": Odd(renamed("a\nb\x1b[31m.ipynb"), WAITS, NONE.format(r"a\nb\x1b[31m.ipynb")),
    "nb-latin": Odd(renamed(os.fsdecode(b"caf\xe9.ipynb")), WAITS, NONE.format(r"caf\udce9.ipynb")),
    "nb-ids": Odd(equal_ids, FULL, "cells have the id of another cell: they got new ones"),
    "nb-twice": Odd(answered_twice, FULL, "solution-masks-causal occurs more than once: the last copy counts"),
    "other-notebooks": Odd(lambda folder: (folder / "mine.ipynb").write_text("{"), FULL),
    "other-names": Odd(lambda folder: (folder / "a\nb").write_text("x"), FULL),
    "other-bytes": Odd(lambda folder: Path(os.fsdecode(os.fsencode(folder) + b"/\xe9")).write_text("x"), FULL),
    "other-fifo": Odd(lambda folder: os.mkfifo(folder / "pipe"), FULL, DELETED.format("pipe")),
    "other-link": Odd(lambda folder: (folder / "all").symlink_to("/"), FULL, DELETED.format("all")),
    "other-deep": Odd(deep, FULL),
    "given-folder": Odd(lambda folder: (folder / "given.txt" / "x").mkdir(parents=True), FULL),
    "given-file": Odd(lambda folder: (folder / "data").write_text("a file where a folder must be"), FULL),
    "secret-folder": Odd(made("submission_secret.txt", lambda path: path.mkdir()), FULL),
    "predictions-folder": Odd(made(PREDICTIONS, lambda path: path.mkdir()), FULL),
    "predictions-bytes": Odd(made(PREDICTIONS, lambda path: path.write_bytes(b"\xff{")), FULL),
    "predictions-fifo": Odd(made(PREDICTIONS, os.mkfifo), FULL, DELETED.format(PREDICTIONS)),
    "questions-folder": Odd(made(QUESTIONS, lambda path: path.mkdir()), FULL),
    "questions-bytes": Odd(made(QUESTIONS, lambda path: path.write_bytes(b"\xff{")), FULL),
    "questions-fifo": Odd(made(QUESTIONS, os.mkfifo), FULL, DELETED.format(QUESTIONS)),
    "lab-file": Odd(made(".tfkit", lambda path: path.write_bytes(b"\xff{")), FULL),
    "lab-link": Odd(made(".tfkit", lambda path: path.symlink_to("/")), FULL, DELETED.format(".tfkit")),
    "zz-right": Odd(lambda folder: None, FULL),
}  # fmt: skip


@contextmanager
def here(pool):
    """The command grades in this process, without a box, which the engine of these courses does not need."""
    with pytest.MonkeyPatch.context() as patched:
        for place in (sandbox, job, execute):
            patched.setattr(place, "choose", lambda *_, **__: None)
        patched.setattr(pools, "local", lambda *_: _as_context(pool))
        for folder in (FAKE, HERE):
            patched.syspath_prepend(str(folder))
        yield


@contextmanager
def _as_context(pool):
    yield pool


def run(course, pool=None, **options):
    """The command's exit status, and the lines that it printed."""
    text = io.StringIO()
    with here(pool or HerePool()):
        code = command.grade(command.Options(course.root, UNIT, **options), Console(file=text, width=20_000))
    return code, text.getvalue().splitlines()


@pytest.fixture(scope="module")
def graded(released_class, tmp_path_factory):
    """The class, and the lines of the run that Ctrl-C stopped after three of them, and of the one that continued it."""
    course = Class(shutil.copytree(released_class, tmp_path_factory.mktemp("odd") / "course"))
    (course.root / "source" / UNIT / "given.txt").write_text("the course's")
    (course.root / "source" / UNIT / "data").mkdir()
    (course.root / "source" / UNIT / "data" / "given.csv").write_text("1,2")
    before = Path.cwd()
    os.chdir(course.root)
    try:
        for student, odd in CLASS.items():
            path = course.hand_in(student, course.released())
            (path.parent / "timestamp.txt").write_text("2026-02-01 10:00:00 UTC")
            odd.change(path.parent)
        stopped = run(course, HerePool(3), workers=1)
        resumed = run(course, resume=True, workers=1)
    finally:
        os.chdir(before)
    return course, stopped, resumed


def about(lines, student):
    """The lines that name the student at their beginning, after the sign of a result."""
    return [
        line for line in lines if line.removeprefix("✗ ").removeprefix("✓ ").startswith((f"{student}:", f"{student} "))
    ]


@pytest.mark.parametrize("student", CLASS)
def test_each_odd_file_costs_its_owner_alone_and_is_told_in_a_line(graded, student):
    course, (stopped, first), (code, lines) = graded
    odd = CLASS[student]
    assert (stopped, code) == (130, 0)
    assert course.grades(student) == odd.grades
    told = [line for line in [*about(first, student), *about(lines, student)] if odd.said and odd.said in line]
    assert bool(told) == bool(odd.said), (about(first, student), about(lines, student))
    assert all(line.count(odd.said) == 1 for line in told)  # a reason once, not with every exercise


@pytest.mark.parametrize("student", [name for name, odd in CLASS.items() if odd.said == LATE])
def test_a_run_that_continues_says_again_what_is_left_to_a_person(graded, student):
    course, (_, first), (_, lines) = graded
    assert [LATE in line for line in about(first, student)].count(True) == 1
    assert [LATE in line for line in about(lines, student)].count(True) == 1
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "tfkit") as gradebook:
        assert gradebook.find_submission(UNIT, student).timestamp is None


def test_who_lacks_the_notebook_has_no_full_marks_and_waits(graded):
    course, _, (_, lines) = graded
    waiting = [name for name, odd in CLASS.items() if odd.grades is WAITS]
    summary = next(line for line in lines if " graded in " in line)
    full = sum(odd.grades is FULL for _, odd in sorted(CLASS.items())[3:])  # three were graded before Ctrl-C
    assert f": {full} with full marks, {len(waiting)} need manual grading" in summary
    for student in waiting:
        assert any(line.startswith(f"✗ {student}") for line in lines)
    assert any("3 with a notebook under another name: --take-renamed renames it" in line for line in lines)


def test_the_graded_folder_has_the_courses_files_and_nothing_of_anothers(graded):
    course, _, _ = graded
    for student in ("given-folder", "given-file", "zz-right"):
        folder = course.root / "autograded" / student / UNIT
        assert (folder / "given.txt").read_text() == "the course's"
        assert (folder / "data" / "given.csv").read_text() == "1,2"
    key = (course.root / "course.key").read_bytes()
    files = [path for path in (course.root / "autograded").rglob("*") if path.is_file()]
    assert len(files) > len(CLASS) and not any(path.read_bytes() == key for path in files)


@pytest.fixture
def own_class(course):
    """A course for one test."""
    return course


def test_a_notebook_under_another_name_is_taken_where_that_is_asked_for(own_class):
    cases = {"ada": f"{UNIT} (1).ipynb", "ben": "other.ipynb", "cleo": f"{UNIT} (1).ipynb"}
    for student, name in cases.items():
        renamed(name)(own_class.hand_in(student, own_class.released()).parent)
    folder = own_class.root / "submitted"
    (folder / "ben" / UNIT / "other.ipynb").write_text(json.dumps({"cells": [], "metadata": {}, "nbformat": 4,
                                                                   "nbformat_minor": 5}))  # fmt: skip
    shutil.copy(folder / "cleo" / UNIT / cases["cleo"], folder / "cleo" / UNIT / f"{UNIT} (2).ipynb")
    run(own_class, workers=1)
    assert all(own_class.grades(student) == WAITS for student in cases)
    code, lines = run(own_class, workers=1, take_renamed=True)
    assert code == 0 and f"ada: {UNIT} (1).ipynb was renamed {NOTEBOOK}" in lines
    assert own_class.grades("ada") == FULL
    assert own_class.grades("ben") == own_class.grades("cleo") == WAITS  # another notebook; two of them
    assert run(own_class, workers=1)[1] == ["all 3 submissions are graded already"]


def test_a_notebook_that_cannot_be_renamed_stops_nobody(own_class, monkeypatch):
    renamed("mine.ipynb")(own_class.hand_in("ada", own_class.released()).parent)
    own_class.hand_in("ben", own_class.released())
    rename = Path.rename

    def refuse(path, target):  # the superuser, who runs tests in CI, may change every folder
        if path.name == "mine.ipynb":
            raise PermissionError(13, "Permission denied", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    code, lines = run(own_class, workers=1, take_renamed=True)
    assert code == 0 and own_class.grades("ben") == FULL and own_class.grades("ada") == WAITS
    assert f"ada: mine.ipynb could not be renamed {NOTEBOOK}: Permission denied" in lines


def test_only_links_that_were_deleted_are_called_so(own_class, monkeypatch):
    folder = own_class.hand_in("ada", own_class.released()).parent
    (folder / NOTEBOOK).unlink()  # nbgrader's hook sees folders with a notebook only
    for name in ("gone", "kept"):
        (folder / name).symlink_to("/dev/null")
    remove = os.remove

    def refuse(path, **how):
        if os.fspath(path).endswith("kept"):
            raise PermissionError(13, "Permission denied", path)
        remove(path, **how)

    monkeypatch.setattr(os, "remove", refuse)
    _, lines = run(own_class, workers=1)
    assert f"ada: {DELETED.format('gone')}" in lines and not os.path.lexists(folder / "gone")
    assert "ada: links and special files could not be deleted and are not read: kept" in lines


def test_a_missing_notebook_of_two_earns_nothing_unless_another_may_be_it(own_class, monkeypatch):
    folder = own_class.hand_in("ada", own_class.released()).parent
    opened = command.Course(own_class.root, UNIT)
    opened.__dict__["released"] = dict(opened.released) | {"more": next(iter(opened.released.values()))}
    assert set(opened.submitted_notebooks(folder)) == {UNIT}
    (folder / "more (1).ipynb").write_text("{}")
    assert opened.submitted_notebooks(folder)["more"].missing == "no notebook more.ipynb (found: more (1).ipynb)"


def test_files_that_may_not_be_read_are_named(own_class, monkeypatch):
    folder = own_class.hand_in("ada", own_class.released()).parent
    (folder / "notes.txt").write_text("x")
    allowed = os.access
    refused = lambda path, mode, **how: not str(path).endswith("notes.txt") and allowed(path, mode, **how)
    monkeypatch.setattr(student_files.os, "access", refused)  # the superuser, who runs tests in CI, may read all
    copy = shutil.copy

    def refuse(source, target, **how):
        if str(source).endswith("notes.txt"):
            raise PermissionError(13, "Permission denied", str(source))
        return copy(source, target, **how)

    monkeypatch.setattr(student_files.shutil, "copy", refuse)
    code, lines = run(own_class, workers=1)
    assert code == 0 and own_class.grades("ada") == FULL
    assert "ada: these may not be read and are left out: notes.txt" in lines


def test_a_missing_time_stamp_is_told_where_there_is_a_due_date(own_class):
    for student in ("ada", "ben"):
        folder = own_class.hand_in(student, own_class.released()).parent
    timestamp(b"2026-01-31 10:00:00 UTC")(folder)
    with Gradebook(f"sqlite:///{own_class.root / 'gradebook.db'}", "tfkit") as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2026-02-01 10:00:00 UTC")
    code, lines = run(own_class, workers=1)
    assert code == 0 and [line for line in lines if LATE in line] == [
        "ada: no timestamp.txt: graded as on time, or with the time of an earlier attempt that is graded; " + LATE
    ]


def test_predictions_that_cannot_be_read_are_told_where_they_count(own_class, monkeypatch):
    folder = own_class.hand_in("ada", own_class.released()).parent
    made(PREDICTIONS, lambda path: path.write_bytes(b"\xff{"))(folder)
    assert not any("predictions" in line for line in run(own_class, workers=1)[1])
    monkeypatch.setattr(command.Course, "_predictions", {"02.a"})
    _, lines = run(own_class, workers=1)
    assert f"ada: {PREDICTIONS} cannot be read (it is not text in UTF-8): none of its predictions count" in lines


def test_a_failure_with_one_submission_leaves_the_others_graded(own_class, monkeypatch):
    """Whatever it is: a fault of ours must not stop a class at the same student again and again."""
    for student in ("ada", "ben", "cleo"):
        own_class.hand_in(student, own_class.released())
    write = command.GradebookWriter.write
    fail = lambda self, record, folder: 1 / 0 if record.key.student == "ben" else write(self, record, folder)
    with monkeypatch.context() as patched:
        patched.setattr(command.GradebookWriter, "write", fail)
        for options in ({}, {"resume": True}):
            code, lines = run(own_class, workers=1, **options)
            assert code == 2 and any(line.startswith("! ben") and "ZeroDivisionError" in line for line in lines)
            assert own_class.grades("ada") == own_class.grades("cleo") == FULL
    assert run(own_class, workers=1, resume=True)[0] == 0 and own_class.grades("ben") == FULL


def test_what_a_release_and_an_assistant_put_there_is_not_what_was_found_instead(tmp_path):
    for name in ("AGENTS.md", "assistant-log.md", "timestamp.txt", f"{UNIT} (1).ipynb", "notes.txt"):
        (tmp_path / name).touch()
    others = student_files.other_files(tmp_path, [UNIT])
    assert others == [f"{UNIT} (1).ipynb", "notes.txt"]
    assert student_files.missing_notebook(UNIT, others).endswith(f"(found: {UNIT} (1).ipynb, notes.txt)")
