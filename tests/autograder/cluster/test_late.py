"""Late policies and extensions: the arithmetic, and both commands on the real gradebook."""

from __future__ import annotations

import shutil

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from autograder.nbgrader.late import LatePolicy

from ..nbgrader.conftest import POINTS
from .conftest import IDS, UNIT
from .test_gradebook import grade_here

HOUR, DAY = 3600, 86_400
POLICY = {"per_day": 0.1, "most": 0.5, "closed_days": 14, "grace_minutes": 15}


@pytest.mark.parametrize(
    "late, penalty",
    [(1, None), (15 * 60, None), (15 * 60 + 1, 1), (DAY, 1), (DAY + 1, 2), (9 * DAY, 5), (14 * DAY, 5), (15 * DAY, 10)],
)
def test_each_day_begun_costs_its_share(late, penalty):
    assert LatePolicy(**POLICY).late_submission_penalty("ada", 10, late) == penalty


def test_nothing_is_taken_unless_it_is_configured():
    assert LatePolicy().late_submission_penalty("ada", 10, 100 * DAY) is None
    zero = LatePolicy(config=Config({"LatePolicy": {"penalty_method": "zero", "grace_minutes": 1}}))
    assert [zero.late_submission_penalty("ada", 10, seconds) for seconds in (60, 61)] == [None, 10]


FULL = POINTS * len(IDS)
HANDED_IN = {  # student → when, what must be taken off; due at 10:00 on the first
    "early": ("2026-02-01 09:00", None),
    "grace": ("2026-02-01 10:10", None),
    "late": ("2026-02-02 11:00", 0.2 * FULL),
    "extended": ("2026-02-03 09:00", None),
    "beyond": ("2026-02-03 11:00", 0.1 * FULL),  # an hour after the extension
    "gone": ("2026-03-01 10:00", FULL),
}


def taken(root):
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "tfkit") as gradebook:
        books = [(name, gradebook.find_submission_notebook(UNIT, UNIT, name)) for name in HANDED_IN]
        return {name: book.late_submission_penalty for name, book in books}


def test_both_commands_take_the_same_off(course, tmp_path_factory):
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "tfkit") as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2026-02-01 10:00:00 UTC")
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.writelines(f"c.LatePolicy.{name} = {value}\n" for name, value in POLICY.items())
        file.write(f'c.LatePolicy.extensions = {{"{UNIT}": {{"extended": 48, "beyond": 48}}}}\n')
    for student, (when, _) in HANDED_IN.items():
        (course.hand_in(student, course.released()).parent / "timestamp.txt").write_text(f"{when}:00 UTC")
    ours = shutil.copytree(course.root, tmp_path_factory.mktemp("ours") / "course")
    course.nbgrader("autograde", UNIT)
    grade_here(ours)
    expected = {name: penalty and pytest.approx(penalty) for name, (_, penalty) in HANDED_IN.items()}
    assert taken(course.root) == expected
    assert taken(ours) == expected
