"""What goes wrong around the grading: a clear line, the rest of the class graded, and a rerun that finishes."""

import logging
import os
import shutil
import signal
import socket
import sqlite3
import threading
import time
from collections import Counter
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader.converters import NbGraderException

from autograder.nbgrader import config, unfinished

from .conftest import IDS, POINTS, UNIT, Course, find

FULL = {exercise: (POINTS, False) for exercise in IDS}
slow = pytest.mark.slow
slow_sample = [slow, pytest.mark.sampled(2)]


def append(course: Course, line: str) -> None:
    with (course.root / config.CONFIG).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")


def times_graded(course: Course) -> dict[str, int]:
    return Counter((course.root / "graded.txt").read_text().split())


MOMENTS = {
    "verdict formed": ("autograde", 1, 2),
    "being read": ("sanitize", 0, 1),
    "put back together": ("autograde", 0, 1),
    "grades saved": ("autograde", 3, 2),
}


@pytest.mark.parametrize("moment", [pytest.param(m, marks=slow_sample * (n > 0), id=m) for n, m in enumerate(MOMENTS)])
def test_a_killed_grader_is_finished_by_the_next(own_course, moment):
    phase, place, times = MOMENTS[moment]
    append(own_course, f'c.Autograde.{phase}_preprocessors.insert({place}, "fake_engine.Kill")')
    for student in ("early", "killer", "late"):
        own_course.hand_in(student, own_course.released())
    own_course.nbgrader("autograde", UNIT, code=-signal.SIGKILL)
    said = own_course.nbgrader("autograde", UNIT)
    assert "left half graded by a run that was killed" in said
    for student in ("early", "killer", "late"):
        assert own_course.grades(student) == FULL
        assert (own_course.root / "autograded" / student / UNIT / f"{UNIT}.ipynb").exists()
    assert times_graded(own_course) == {"early": 1, "killer": times, "late": 1}
    assert [path.name for path in (own_course.root / unfinished.LOCKS).iterdir()] == [unfinished.DEATHS]
    assert not list((own_course.root / unfinished.LOCKS / unfinished.DEATHS).iterdir())


def test_a_submission_that_kills_the_grader_twice_waits_for_a_person(own_course):
    poison = own_course.released()
    find(poison, "solution-masks-padding").source = "# kill"
    for student, nb in (("early", own_course.released()), ("killer", poison), ("late", own_course.released())):
        own_course.hand_in(student, nb)
    for _ in range(unfinished.MAX_ENDED_GRADERS):
        own_course.nbgrader("autograde", UNIT, code=-signal.SIGKILL)
    said = own_course.nbgrader("autograde", UNIT)
    assert "killer · 02-masks: the grader was killed twice while it graded this submission" in said
    assert own_course.grades("early") == own_course.grades("late") == FULL
    assert own_course.grades("killer") == {exercise: (0.0, True) for exercise in IDS}
    assert said.count("killer needs grading by hand: the grader was killed twice") == 1  # not with every exercise
    check = find(own_course.graded("killer"), "check-masks-causal")
    assert check.metadata.tfkit.verdict["status"] == "not_graded"
    assert times_graded(own_course) == {"early": 1, "killer": 2, "late": 1}
    assert not list((own_course.root / unfinished.LOCKS / unfinished.DEATHS).iterdir())  # `--force` tries it again


def test_a_grader_that_is_interrupted_accuses_nobody(tmp_path, monkeypatch):
    """Ctrl-C leaves a lock behind too, which nobody holds."""
    monkeypatch.chdir(tmp_path)
    converter = SimpleNamespace(coursedir=SimpleNamespace(root=tmp_path), log=logging.getLogger("test"),
                                _format_source=lambda a, s, escape: f"submitted/{s}/{a}",
                                _format_dest=lambda a, s: f"autograded/{s}/{a}")  # fmt: skip
    for stopped in (True, False, False):
        unfinished.begin("submitted/ann/x")
        assert not unfinished.killed_too_often()
        if stopped:
            unfinished._stop()
        for descriptor in unfinished._held.values():  # as where the process ends
            os.close(descriptor)
        unfinished._held.clear()
        unfinished.clear(converter)
    unfinished.begin("submitted/ann/x")
    assert unfinished.killed_too_often()
    unfinished.release()
    unfinished.begin("submitted/ann/x")
    assert not unfinished.killed_too_often()
    unfinished.release()


def test_a_locked_gradebook_and_a_renamed_file(own_course):
    for student in ("early", "late"):
        own_course.hand_in(student, own_course.released())
    path = own_course.hand_in("renamed", own_course.released(), name=f"{UNIT}-Copy1")
    with sqlite3.connect(own_course.root / "gradebook.db") as holder:
        holder.execute("BEGIN EXCLUSIVE")
        said = own_course.nbgrader("autograde", UNIT, code=1)
        holder.rollback()
    assert "cannot store grades: database is locked. Close the program that has locked it" in said
    assert not (own_course.root / "autograded").exists() and not (own_course.root / "graded.txt").exists()
    said = own_course.nbgrader("autograde", UNIT, code=1)
    assert f"renamed/{UNIT} holds {UNIT}-Copy1.ipynb, not {UNIT}.ipynb: rename it" in said
    assert own_course.grades("early") == own_course.grades("late") == FULL
    path.rename(path.with_name(f"{UNIT}.ipynb"))
    own_course.nbgrader("autograde", UNIT)
    assert own_course.grades("renamed") == FULL
    assert times_graded(own_course) == {"early": 1, "late": 1, "renamed": 1}


def test_a_strange_time_stamp_ends_no_class_and_a_byte_order_mark_costs_nothing(own_course):
    """nbgrader itself ends with a traceback: 'CourseDirectory' object has no attribute 'fail'."""
    own_course.hand_in("right", own_course.released())
    (own_course.hand_in("words", own_course.released()).parent / "timestamp.txt").write_text("yesterday, about noon")
    (own_course.hand_in("folder", own_course.released()).parent / "timestamp.txt").mkdir()
    own_course.hand_in("windows", nbformat.writes(own_course.released()).encode("utf-16"))
    said = own_course.nbgrader("autograde", UNIT)
    for student in ("words", "folder"):
        assert f"submitted/{student}/{UNIT}: timestamp.txt holds no time" in said
    assert "Traceback" not in said
    for student in ("right", "words", "folder", "windows"):
        assert own_course.grades(student) == FULL
    own_course.nbgrader("autograde", UNIT)  # nor is it an error when all were graded


@slow
def test_a_gradebook_that_may_only_be_read(own_course):
    own_course.hand_in("early", own_course.released())
    kept = (own_course.root / config.CONFIG).read_text()
    append(own_course, "c.CourseDirectory.db_url = f\"sqlite:///file:{HERE / 'gradebook.db'}?mode=ro&uri=true\"")
    said = own_course.nbgrader("autograde", UNIT, code=1)
    assert (
        "cannot store grades: attempt to write a readonly database" in said and "give yourself write permission" in said
    )
    (own_course.root / config.CONFIG).write_text(kept)
    own_course.nbgrader("autograde", UNIT)
    assert own_course.grades("early") == FULL


def test_locks_of_the_living_are_kept(tmp_path, monkeypatch):
    """A second command beside a running one must not take its work away."""
    monkeypatch.chdir(tmp_path)
    unfinished.begin("submitted/ann/x")
    (lock,) = (tmp_path / unfinished.LOCKS).iterdir()
    assert unfinished._is_held(lock)
    unfinished.release()
    assert not lock.exists()
    shutil.rmtree(tmp_path / unfinished.LOCKS)


def test_who_waits_for_another_grader_is_told_for_whom(tmp_path, monkeypatch):
    said = []
    logger = SimpleNamespace(warning=lambda text, *more: said.append(text % more))
    monkeypatch.setattr(unfinished.traitlets_log, "get_logger", lambda: logger)
    monkeypatch.chdir(tmp_path)
    unfinished.begin("submitted/ann/x")
    (lock,) = (tmp_path / unfinished.LOCKS).iterdir()
    got = []
    waiter = threading.Thread(target=lambda: got.append(unfinished._locked(lock, "submitted/ann/x")))
    waiter.start()
    end = time.monotonic() + 30
    while not said and time.monotonic() < end:
        time.sleep(0.01)
    me = f"{os.getpid()} on {socket.gethostname()}"
    assert said == [f"submitted/ann/x is being graded by process {me}: waiting for it"]
    assert not got
    unfinished.release()
    waiter.join(30)
    assert lock.exists() and unfinished._is_held(lock)  # not the file that the first one removed
    os.close(got[0])


def test_a_database_server_that_is_away_is_told_of_in_one_line():
    pytest.importorskip("psycopg", reason="no driver for PostgreSQL here: pip install 'psycopg[binary]'")
    said = []
    where = SimpleNamespace(db_url="postgresql+psycopg://ada:secret@127.0.0.1:9/grades")
    with pytest.raises(NbGraderException) as error:
        unfinished.writable(SimpleNamespace(coursedir=where, log=SimpleNamespace(error=said.append)))
    assert said == [str(error.value)] and "\n" not in said[0]
    assert "refused" in said[0] and "Start the database server, or correct c.CourseDirectory.db_url" in said[0]
    assert "secret" not in said[0]
