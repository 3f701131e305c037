"""Late policies and extensions: the arithmetic, and both commands on the real gradebook."""

from __future__ import annotations

import shutil

import pytest
from nbgrader.api import Gradebook
from rich.console import Console
from traitlets.config import Config

from autograder.cluster import command, scores
from autograder.cluster.course import Course
from autograder.cluster.gradebook import GradebookWriter
from autograder.cluster.job import GradingRecord, grade
from autograder.cluster.records import Records
from autograder.nbgrader.late import LatePolicy
from autograder.nbgrader.ledger import Total

from ..nbgrader.conftest import POINTS
from .conftest import IDS, UNIT
from .test_gradebook import grade_here

HOUR, DAY = 3600, 86_400
POLICY = {"penalty_per_day": 0.1, "max_penalty": 0.5, "closed_days": 14, "grace_minutes": 15}


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


def late_course(course):
    """Ada and ben hand in a day late, for a tenth of the score; ada's is graded and kept as the command keeps it."""
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "tfkit") as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2026-02-01 10:00:00 UTC")
    policy(course, 0.1)
    (course.hand_in("ada", course.released()).parent / "timestamp.txt").write_text("2026-02-02 09:00:00 UTC")
    opened = Course(course.root, UNIT)
    (submission,) = opened.submissions()
    record = GradingRecord.from_bytes(grade(opened.bundle(submission)))
    with GradebookWriter(opened) as writer, Records(course.root) as records:
        round = records.begin_round(UNIT, regrade=False)
        records.add(round, record)
        writer.write(record, submission.folder)
        records.mark_committed(round, record.key)
        records.end_round(round, "committed")
    return record, submission.folder


def policy(course, per_day):
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.LatePolicy.penalty_per_day = {per_day}\n")


def run(course, **options):
    console = Console(record=True, width=200)
    return command.grade(command.Options(course.root, UNIT, **options), console), console.export_text()


def mark_by_hand(course, points):
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "tfkit") as gradebook:
        grade = gradebook.find_grade(f"check-{IDS[0].replace('.', '-')}", UNIT, UNIT, "ada")
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def test_marks_by_hand_and_a_new_policy_change_totals_only_when_that_is_agreed(course):
    """Every reader has the same total at once; what the formgrader shows follows when a person says so."""
    late_course(course)
    assert run(course) == (0, "all 1 submissions are graded already\n")
    mark_by_hand(course, POINTS + 4)
    row = scores.read(course.root, UNIT).rows[0]
    assert (row.raw, row.penalty) == (FULL + 4, pytest.approx((FULL + 4) / 10))
    code, said = run(course)
    assert code == 2 and "total" in said and "late penalty: 0.6 → 1" in said and "use --yes to write them" in said
    assert "9.4" in said and taken_from_ada(course) == pytest.approx(FULL / 10)
    assert run(course, yes=True)[0] == 0 and taken_from_ada(course) == pytest.approx(1)
    assert run(course)[0] == 0
    policy(course, 0.25)
    code, said = run(course)
    assert code == 2 and "late penalty: 1 → 2.5" in said


def taken_from_ada(course):
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "tfkit") as gradebook:
        return gradebook.find_submission_notebook(UNIT, UNIT, "ada").late_submission_penalty


def test_a_regrade_is_foretold_in_totals_and_nothing_of_the_telling_stays(course):
    record, folder = late_course(course)
    before = (course.root / "gradebook.db").read_bytes()
    policy(course, 0.5)
    with GradebookWriter(Course(course.root, UNIT)) as writer:
        assert writer.preview(record, folder) == (Total(FULL, pytest.approx(FULL / 10)), Total(FULL, FULL / 2))
    assert (course.root / "gradebook.db").read_bytes() == before


def test_the_feedback_page_has_the_total_of_the_ledger(course):
    late_course(course)
    mark_by_hand(course, POINTS + 4)
    course.nbgrader("generate_feedback", UNIT)
    assert "(Score: 9.0 / 6.0)" in course.page("ada")
