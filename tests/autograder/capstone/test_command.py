"""`autograder capstone`, as it is typed: in a course that nbgrader released and graded."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.capstone import command as capstone
from autograder.capstone import results
from autograder.settings.capstone import Terms
from course import build as builder

UNIT, CELL = "17-capstone", "project-language-model"
SUBMISSIONS = Path(__file__).parent / "submissions"
TOML = """[[unit]]
name = "17-capstone"

[capstone]
seconds = 2
letters = 40000
windows = 12
length = 40
bands = [[1.7, 4], [0.1, 10]]
"""


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # nbgrader calls alembic
    env = os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"}
    call = [sys.executable, "-m", *arguments]
    return subprocess.run(call, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("course")
    (root / "course.toml").write_text(TOML)
    assert builder.main([str(root)]) == 0
    released = command(root, "nbgrader", "generate_assignment", UNIT)
    assert released.returncode == 0, released.stderr
    for student, answer in (("ann", "right/counts.py"), ("bob", "wrong/unnormalised.py"), ("cid", None)):
        nb = nbformat.read(root / "release" / UNIT / f"{UNIT}.ipynb", as_version=4)
        if answer:
            (cell,) = [c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == CELL]
            cell.source = (SUBMISSIONS / answer).read_text()
        folder = root / "submitted" / student / UNIT
        folder.mkdir(parents=True)
        nbformat.write(nb, folder / f"{UNIT}.ipynb")
    return root


def points(root: Path, student: str) -> float:
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "tfkit") as gradebook:
        return gradebook.find_grade(CELL, UNIT, UNIT, student).score


def test_a_student_measures_a_model_for_as_long_as_they_say(course: Path) -> None:
    submitted = course / "submitted" / "ann" / UNIT / f"{UNIT}.ipynb"
    done = command(course, "autograder", "capstone", "check", str(submitted), "--seconds", "2")
    assert done.returncode == 0 and "bits per byte of new text" in done.stdout, done.stdout + done.stderr


def test_a_class_is_measured_and_its_points_are_in_the_gradebook(course: Path) -> None:
    graded = command(course, "nbgrader", "autograde", UNIT)
    assert graded.returncode == 0, graded.stderr
    done = command(course, "autograder", "capstone", "grade", ".")
    ann, bob, cid = done.stdout.splitlines()
    assert done.returncode == 0 and "gradebook" not in done.stdout
    assert ann.startswith("ann: 4 of 10 points: ")
    assert bob.startswith("bob: 0 of 10 points: ") and "sum to 256" in bob
    assert cid.startswith("cid: 0 of 10 points: your code stopped")
    assert [points(course, student) for student in ("ann", "bob", "cid")] == [4, 0, 0]
    shown = command(course, "autograder", "capstone", "show", ".").stdout
    assert shown.split() == [UNIT, "and", "3", "students", "who", "are", "not", "listed"]  # nobody asked to be on it


@pytest.mark.parametrize("what", ["grade", "show"])
def test_a_folder_that_is_no_course_is_named(tmp_path: Path, what: str) -> None:
    done = command(tmp_path, "autograder", "capstone", what, "nowhere")
    assert done.returncode == 2 and "nowhere" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_student_who_handed_nothing_in_is_named(course: Path) -> None:
    done = command(course, "autograder", "capstone", "grade", ".", UNIT, "dan")
    assert done.returncode == 2 and "dan has not submitted 17-capstone" in done.stderr


def test_neither_what_code_says_nor_a_name_on_the_leaderboard_controls_the_terminal(tmp_path, capsys):
    title = "\x1b]0;yours\x07"
    found = {"reason": f"your code stopped with exception: ValueError: {title}"}
    assert capstone.sentence(found, Terms()).endswith(r"ValueError: \x1b]0;yours\x07")
    row = {"called": title, "bits": 1.0, "floor": 1.0, "excess": 0.0, "seconds": 1.0, "listed": True}
    results.keep(tmp_path, UNIT, "ann", row)
    assert capstone._show(argparse.Namespace(course=tmp_path)) == 0
    assert r"\x1b]0;yours\x07" in capsys.readouterr().out
