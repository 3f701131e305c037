"""What a worker that lies sends costs the submission that it was given, and neither the class nor the grader."""

from __future__ import annotations

import io
import json
import zlib
from contextlib import nullcontext

import pytest
from rich.console import Console

from autograder.cluster import command, job
from autograder.cluster.bundle import unpack
from autograder.cluster.course import Course
from autograder.cluster.pool import JobOutcome

from ..nbgrader.conftest import POINTS
from .conftest import IDS, UNIT, find

FULL = {exercise: (POINTS, False) for exercise in IDS}
BOMB = '{"cells":[],"metadata":{"x":[' + "[]," * 1_100_000 + '[]]},"nbformat":4,"nbformat_minor":5}'


def other_points(record):
    """The points that nbgrader reads, and not the verdict, which is what a second grading compares."""
    nb = json.loads(record["notebooks"][UNIT])
    for cell in nb["cells"]:
        if cell["metadata"].get("tfkit", {}).get("verdict"):
            cell["outputs"][0]["data"]["text/plain"] = ["2.0"]
    record["notebooks"][UNIT] = json.dumps(nb)


def second_points(record):
    """As `other_points`, by a further output."""
    nb = json.loads(record["notebooks"][UNIT])
    for cell in nb["cells"]:
        if cell["metadata"].get("tfkit", {}).get("verdict"):
            cell["outputs"].insert(0, {**cell["outputs"][0], "data": {"text/plain": ["2.0"]}})
    record["notebooks"][UNIT] = json.dumps(nb)


def points_without_verdict(record):
    """A graded cell without any output, for which nbgrader gives all points, and no verdict to compare again."""
    nb = json.loads(record["notebooks"][UNIT])
    cell = next(cell for cell in nb["cells"] if cell["metadata"].get("tfkit", {}).get("verdict"))
    gone = cell["metadata"]["tfkit"].pop("verdict")
    cell["outputs"] = []
    record["notebooks"][UNIT] = json.dumps(nb)
    record["verdicts"] = [one for one in record["verdicts"] if one["exercise"] != gone["exercise"]]


LIES = {
    "a number for a verdict": lambda it: it.update(verdicts=[1]),
    "a verdict without fields": lambda it: it.update(verdicts=[{}]),
    "a score that is text": lambda it: it["verdicts"][0].update(score="2"),
    "a score that is NaN": lambda it: it["verdicts"][0].update(score=float("nan")),
    "a score of hundreds of digits": lambda it: it["verdicts"][0].update(score=10**400, max_score=10**400),
    "a score above the most": lambda it: it["verdicts"][0].update(score=1e308),
    "a status that there is not": lambda it: it["verdicts"][0].update(status="<b>"),
    "a reason that is a number": lambda it: it["verdicts"][0].update(reason=5),
    "verdicts of no notebook": lambda it: it.update(notebooks={}),
    "a time that is text": lambda it: it.update(seconds="1"),
    "no time": lambda it: it.update(seconds=None),
    "a list for missing notebooks": lambda it: it.update(missing=[1]),
    "numbers for notes": lambda it: it.update(notes=[1]),
    "very many notes": lambda it: it.update(notes=["x"] * 100_000),
    "very many notebooks": lambda it: it["notebooks"].update({f"n{n}": it["notebooks"][UNIT] for n in range(200)}),
    "a list for notebooks": lambda it: it.update(notebooks=[1]),
    "a notebook that is none": lambda it: it["notebooks"].update({UNIT: "[1]"}),
    "a notebook of a million lists": lambda it: it["notebooks"].update(bomb=BOMB),
    "points that no verdict has": other_points,
    "points in an output more": second_points,
    "points without a verdict": points_without_verdict,
}


class Liar:
    """A pool whose only worker changes the record of ada's submission."""

    def __init__(self, lie):
        self.lie = lie

    def slots(self):
        return 1

    def grade(self, work):
        for task in work:
            record = unpack(job.grade(task.bundle()))
            if task.key.student == "ada":
                self.lie(record)
            sent = zlib.compress(json.dumps(record).encode())
            try:
                yield JobOutcome(task.key, job.GradingRecord.of(task.key, sent))
            except ValueError as error:
                yield JobOutcome(task.key, error=str(error))


def run(course, monkeypatch, lie):
    """The exit status of the command, and what it prints."""
    for student in ("ada", "ben"):
        nb = course.released()
        find(nb, f"solution-{IDS[0].replace('.', '-')}").source = "# right" if student == "ben" else "nothing"
        course.hand_in(student, nb)
    monkeypatch.setattr("autograder.cluster.pool.local", lambda *_: nullcontext(Liar(lie)))
    printed = io.StringIO()
    code = command.grade(command.Options(course.root, UNIT), Console(file=printed, width=300))
    return code, printed.getvalue()


@pytest.mark.parametrize("lie", LIES)
def test_a_record_that_is_none_costs_its_submission_alone(course, monkeypatch, lie):
    code, printed = run(course, monkeypatch, LIES[lie])
    assert code == 2 and course.grades("ben") == FULL
    (line,) = [line for line in printed.splitlines() if "ada" in line]
    assert line.startswith("! ada") and "a worker sent a" in line and len(line) < 300


def test_escapes_in_a_record_reach_no_terminal(course, monkeypatch):
    title = "\x1b]0;yours\x07\x1b[31m"
    code, printed = run(course, monkeypatch, lambda it: it.update(missing={"x": title}, notes=[title]))
    assert code == 0 and "\x1b" not in printed and printed.count(r"\x1b]0;yours") == 2


def test_what_workers_really_send_is_a_record(course):
    """Right, wrong, not graded, not readable, and missing."""
    for student, answer in (("ada", "# right"), ("ben", "nothing"), ("chen", "# ours"), ("dan", "# raise")):
        nb = course.released()
        find(nb, f"solution-{IDS[0].replace('.', '-')}").source = answer
        course.hand_in(student, nb)
    course.hand_in("eve", "no notebook")
    course.hand_in("fay", course.released(), name="another")
    opened = Course(course.root, UNIT)
    for one in opened.submissions():
        record = job.GradingRecord.of(one.key, job.grade(opened.bundle(one)))
        assert record.key == one.key and len(record.verdicts) == len(IDS)
