"""A class whose truth is known gets the right grades from everything that grades, and the same from all."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from autograder.nbgrader import config
from course import build, truth
from course.mock_class import HEADS, STUDENTS, MockStudent, hand_in, submit_one
from course.release import COURSE, generate
from course.truth import Outcome, WrongGrade, exercises_of
from tfkit_lab import check as lab

SMALL = ("ben", "emil", "fatima", "otto")  # right, wrong at an edge, wrong, a forger: a class graded in a minute
CLASS = {student.name: student for student in STUDENTS if student.name in SMALL}
GRADES = len(CLASS) * len(exercises_of(HEADS))


def run(*words, cwd=None, codes=(0,)):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"}
    call = [sys.executable, "-m", *words]
    done = subprocess.run(call, cwd=cwd, env=env, capture_output=True, text=True, timeout=1500)
    assert done.returncode in codes, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """A course with the class's notebooks, collected but not graded; tests copy it."""
    root = tmp_path_factory.mktemp("truth")
    config.install(root)
    build.build(root, [HEADS])
    generate(root, HEADS)
    for name, student in CLASS.items():
        hand_in(student, HEADS, root / "release", root / "submitted" / name)
    return root


@pytest.fixture
def course(handed_in, tmp_path):
    return shutil.copytree(handed_in, tmp_path / "course")


def agree(found):
    """All outcomes are there and are what they must be."""
    assert len(found) == GRADES
    assert truth.differences(CLASS, HEADS, found) == []


@pytest.fixture(scope="module")
def graded(handed_in, tmp_path_factory):
    """The class as the stock command grades it, with which every other way is compared."""
    root = shutil.copytree(handed_in, tmp_path_factory.mktemp("graded") / "course")
    run("nbgrader", "autograde", HEADS, cwd=root)
    agree(truth.outcomes(root, COURSE, HEADS, CLASS))
    return root


def grade(course):
    """`autograder grade`, and then `autograder verify`."""
    assert "Traceback" not in run("autograder", "grade", str(course), HEADS, "--workers", "2")
    words = f"{GRADES} of {GRADES} verdicts equal when graded again ({len(CLASS)} submissions)"
    assert words in run("autograder", "verify", str(course), "--workers", "1")


def serve(course):
    """`autograder serve`, to which the students submit through the exchange."""
    from autograder.cluster.course import settings_of

    submitted = (course / "submitted").rename(course.parent / "handed-in")
    for step in (f"outbound/{HEADS}", "inbound"):  # as nbgrader leaves them
        (course / "exchange" / COURSE / step).mkdir(parents=True)
    for name in CLASS:
        submit_one(settings_of(course).config, submitted / name, name, HEADS)
    run("autograder", "serve", str(course), "--once", "--workers", "2")


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", [grade, serve], ids=["grade", "serve"])
def test_nbgrader_grade_and_serve_give_the_right_grades_and_the_same(way, graded, course):
    way(course)
    found = [truth.outcomes(root, COURSE, HEADS, CLASS) for root in (graded, course)]
    agree(found[1])
    assert found[0] == found[1]
    for name in CLASS:  # not the points alone: every word, and the inputs as well
        files = [root / "autograded" / name / HEADS / f"{HEADS}.ipynb" for root in (graded, course)]
        one, other = map(truth.verdicts_of, files)
        assert one == other


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("exercise", exercises_of(HEADS), ids=lambda exercise: exercise.id)
def test_the_check_command_and_the_labs_check_give_the_right_grades(exercise, course):
    files = {name: course / "submitted" / name / HEADS / f"{HEADS}.ipynb" for name in CLASS}
    printed = run("autograder", "check", exercise.id, *map(str, files.values()), "--json", codes=(1,)).splitlines()
    for (name, file), line in zip(files.items(), printed, strict=True):
        cells = [lab._cell(place, cell) for place, cell in enumerate(sent(file))]
        command = Outcome.of(json.loads(line))
        assert truth.difference(CLASS[name], exercise, command) == []
        assert Outcome.of(asyncio.run(lab.check(exercise.id, cells))) == command


def sent(file):
    """The cells as the front end sends them."""
    cells = [cell for cell in nbformat.read(file, as_version=4).cells if cell.cell_type == "code"]
    tags = [cell.metadata.get("tfkit", {}) for cell in cells]
    return [
        {"source": cell.source, "role": tag.get("role"), "exercise": tag.get("exercise")}
        for cell, tag in zip(cells, tags, strict=True)
    ]


RIGHT = Outcome(3.0, 3.0, False, None, "")


@pytest.mark.parametrize(
    ("name", "got", "said"),
    [
        ("ben", RIGHT, ""),
        ("ben", replace(RIGHT, score=2.79), "2.79 of 3, but it is right"),
        ("ben", replace(RIGHT, manual=True, reason="disturbed"), "could not be graded: disturbed"),
        ("fatima", replace(RIGHT, score=2.1, misconception="single_head"), ""),
        ("fatima", replace(RIGHT, score=2.0, misconception="single_head"), "2 of 3, but it must be 2.10"),
        ("fatima", replace(RIGHT, score=0.0, misconception="single_head"), "0 of 3, but it must be 2.10"),
        ("fatima", RIGHT, "full marks, but it is wrong"),
        ("fatima", replace(RIGHT, score=2.1, misconception="other"), "named other, but it is single_head"),
        ("emil", replace(RIGHT, score=1.0, misconception="empty_row_averages"), "1 of 3, but it must be 2.60"),
    ],
)
def test_one_grade_that_is_not_what_it_must_be_is_named(name, got, said):
    exercise = next(one for one in exercises_of(HEADS) if one.id == "attention.multi_head")
    lines = truth.difference(CLASS[name], exercise, got)
    assert len(lines) == bool(said) and all(said in line for line in lines)


def test_a_forger_may_earn_nothing():
    exercise = next(one for one in exercises_of(HEADS) if one.id == "attention.split_heads")
    assert "should earn nothing" in truth.difference(CLASS["otto"], exercise, replace(RIGHT, score=0.1))[0]


def test_the_benchmark_ends_at_a_wrong_grade(monkeypatch, tmp_path):
    from rich.console import Console

    from bench.grading import Bench

    bench = Bench(tmp_path, 2, Console())
    bench.takers = [MockStudent("ben", "right", (HEADS,)), CLASS["fatima"]]
    robbed = {(name, exercise.id): RIGHT for name in ("s000", "s001") for exercise in exercises_of(HEADS)}
    monkeypatch.setattr(truth, "outcomes", lambda *_: robbed)
    with pytest.raises(WrongGrade, match="s001 fatima .*full marks, but it is wrong"):
        bench._compared()
    robbed["s001", "attention.multi_head"] = replace(RIGHT, score=2.1, misconception="single_head")
    assert bench._compared() == len(robbed)
