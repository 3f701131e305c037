"""What each release wrote is read by this one, and graded with equal verdicts (docs/upgrades.md).

`releases/` has a folder for each release: a course with a submission and its verdicts, a course.toml that uses every
table, and `records.db` and `marking.db` as SQL. A release adds a folder and changes none.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.cluster.records import Records, Round
from autograder.grade.notebook import grade_file
from autograder.marking.store import MarkedCell, MarkingStore
from autograder.sandbox import choose
from autograder.settings import course_file, points
from autograder.settings.course_file import TABLES, TOP
from course.release import generate
from course.settings import language_of, read, tracks
from tfkit_course import NAME

RELEASES = sorted((Path(__file__).parent / "releases").iterdir())
SUBMITTED = "submitted/ada/02-masks/02-masks.ipynb"
SEED = 7
pytestmark = pytest.mark.parametrize("release", RELEASES, ids=[path.name for path in RELEASES])


def expected(release: Path) -> list[dict]:
    return json.loads((release / "verdicts.json").read_text(encoding="utf-8"))


def restore(script: Path, file: Path) -> None:
    """The database as its release left it."""
    db = sqlite3.connect(file)
    db.executescript(script.read_text(encoding="utf-8"))
    db.close()


def test_a_notebook_gets_the_verdicts_that_it_got(release: Path) -> None:
    result = grade_file(release / "course" / SUBMITTED, choose(), seed=SEED)
    found = [{**one.verdict.as_json(), "cell": one.cell} for one in result.verdicts]
    wanted = expected(release)
    assert len({one["status"] for one in wanted}) == 2 and any(one["misconceptions"] for one in wanted)
    assert [{key: one[key] for key in wanted[0]} for one in found] == wanted


def test_the_settings_of_a_course_are_read(release: Path, tmp_path: Path) -> None:
    shutil.copy(release / "settings.toml", tmp_path / "course.toml")
    first, capstone = read(tmp_path)
    assert (first.name, first.predictions, capstone.name) == ("02-masks", 1, "17-capstone")
    assert first.points == {"masks.softmax": 4} and first.due is not None
    found = course_file.read(tmp_path / "course.toml")
    tables = found.keys() - set(TOP.names)
    assert tables <= {table.name for table in TABLES}
    if release.name == version(NAME):  # a later version may have more tables
        assert tables == {table.name for table in TABLES} and found.keys() - tables == {"title", "language"}
    ours = tracks(tmp_path)["ours"]
    assert (ours.title, ours.about, ours.units) == ("Ours", "Masks alone", ("02-masks", "17-capstone"))
    assert points.read_credit(tmp_path / "course.toml") == "checks"
    weights = points.read(tmp_path / "course.toml")
    assert (weights["gradients"], weights["edges"]) == (2, 0.5)
    assert found["capstone"] == {"seconds": 120, "bands": [[0.6, 3], [0.25, 6], [0.12, 8], [0.08, 10]]}
    assert found["assistants"] == {"hints": 2} and language_of(tmp_path) == "fr"
    assert found["repository"] == {"url": "https://github.com/OWNER/REPO", "branch": "main"}


def test_records_and_marks_are_read_and_go_on(release: Path, tmp_path: Path) -> None:
    for name in ("records", "marking"):
        restore(release / f"{name}.sql", tmp_path / f"{name}.db")
    with Records(tmp_path) as records:
        first = Round(1, "02-masks", regrade=False)
        (key,) = records.keys(first)
        assert key.student == "ada" and records.get(first, key).notebooks == {"02-masks": "{}"}
        assert records.open_round("02-masks") is None and records.begin_round("02-masks", regrade=True).number == 2
    cell = MarkedCell("02-masks", "02-masks", "task-mask")
    with MarkingStore(tmp_path) as marks:
        assert marks.marks(cell)["ada"].score == 1.5
        marks.add_mark(cell, "ada", 2.0, "", "grace")
        assert [mark.score for mark in marks.all_marks(cell)] == [1.5, 2.0]


@pytest.mark.slow
def test_a_course_in_mid_term_goes_on_grading(release: Path, tmp_path: Path) -> None:
    """Its source, its nbgrader_config.py and its submission, by nbgrader's own command."""
    course = tmp_path / "course"
    shutil.copytree(release / "course", course)
    (course / "course.key").write_bytes(bytes(32))
    (course / "exchange").mkdir()
    generate(course, "02-masks")
    env = {**os.environ, "OMP_NUM_THREADS": "1", "TRAITLETS_APPLICATION_RAISE_CONFIG_FILE_ERROR": "1"}
    command = [sys.executable, "-m", "nbgrader", "autograde", "02-masks", "--create"]
    done = subprocess.run(command, cwd=course, env=env, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    graded = nbformat.read(course / "autograded/ada/02-masks/02-masks.ipynb", 4)
    text = json.dumps(graded)
    for one in expected(release):
        assert all(name in text for name in one["misconceptions"]), one
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        grades = gradebook.find_submission_notebook("02-masks", "02-masks", "ada").grades
        scores = {grade.name: grade.auto_score for grade in grades if grade.name.startswith("check-")}
    assert scores == {f"check-{one['exercise'].replace('.', '-')}": one["score"] for one in expected(release)}
