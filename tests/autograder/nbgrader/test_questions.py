"""Points for answers about one's own code, where a course.toml gives any: built, released and graded by nbgrader's
commands and in a cluster."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.api import Verdict
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.feedback.translate import override_language
from autograder.nbgrader import questions
from autograder.questions import make, record
from autograder.questions.notebook import answer_questions
from autograder.questions.runs import code_of
from autograder.sandbox import choose

from .conftest import UNIT, Course, find, points_in_cluster

RIGHT = next(iter(answers(registry.find("masks.causal"), "right"))).read_text(encoding="utf-8") + "# right\n"


@pytest.fixture(scope="module")
def course(counting: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    return Course(shutil.copytree(counting, tmp_path_factory.mktemp("asking") / "course"))


@pytest.fixture(scope="module")
def asked(course: Course) -> dict:
    """The questions about RIGHT as a French student's notebook asks them, with their keys."""
    code = code_of(registry.find("masks.causal"), notebook(course, RIGHT))
    with override_language("fr"):
        made = [one.as_json() for one in make.questions(code, choose())]
    return {"exercise": "masks.causal", "title": "", "seed": 0, "code": code.text, "questions": made}


def notebook(course: Course, answer: str) -> nbformat.NotebookNode:
    nb = nbformat.read(course.root / "release" / UNIT / f"{UNIT}.ipynb", as_version=4)
    find(nb, "solution-masks-causal").source = answer
    find(nb, "solution-masks-causal").metadata["tfkit"] = {"role": "exercise", "exercise": "masks.causal"}
    return nb


def keys(asked: dict) -> list:
    """As a student writes them: options from 1 on."""
    return [one["key"] + 1 if one["kind"] == "choice" else one["key"] for one in asked["questions"]]


def test_the_released_notebook_asks_below_the_check_and_counts_at_its_end(course: Course) -> None:
    cells = [cell for cell in notebook(course, RIGHT).cells if cell.cell_type == "code"]
    ids = [cell.id for cell in cells]
    assert ids[ids.index("check-masks-causal") + 1] == "ask-masks-causal" and ids[-1] == "questions"
    assert cells[-1].source.endswith('questions_answered("masks.causal")')
    assert cells[-1].metadata.nbgrader.points == 2 and cells[-1].metadata.nbgrader.locked


def test_answers_earn_their_share_from_nbgrader_and_in_a_cluster(
    course: Course, asked: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hand_in(student: str, answer: str, given: list | None) -> Path:
        folder = course.hand_in(student, notebook(course, answer)).parent
        if given is not None:
            with override_language("fr"):
                answer_questions(asked, tuple(given), folder)
        return folder

    right, count = keys(asked), len(asked["questions"])
    assert count == 3
    hand_in("all", RIGHT, right)
    odd = [[9, 9, 9] if one["kind"] == "shape" else 99.5 if one["kind"] == "number" else given
           for one, given in zip(asked["questions"], right, strict=True)]  # fmt: skip
    hand_in("some", RIGHT, odd)
    hand_in("changed", RIGHT + "# a remark\n", right)
    hand_in("none", RIGHT, None)
    hand_in("wrong", RIGHT.replace("# right", "# no"), right)
    strange = hand_in("strange", RIGHT, right) / record.FILE
    strange.write_text(strange.read_text().replace('"value":', '"value": {}, "was":'))
    course.nbgrader("autograde", UNIT)
    share = [one == other for one, other in zip(odd, right, strict=True)].count(True) / count
    assert 0 < share < 1
    expected = {"all": 2.0, "some": pytest.approx(2 * share), "changed": 0.0, "none": 0.0, "wrong": 0.0, "strange": 0.0}
    told = {student: find(course.graded(student), "questions").metadata.tfkit.verdict for student in expected}
    assert {student: verdict["score"] for student, verdict in told.items()} == expected
    said = {student: verdict["checks"][0]["message"] for student, verdict in told.items()}
    assert said["all"] == f"{count} of {count} answers say what the submitted code does."
    wrong = next(one for one, other, key in zip(asked["questions"], odd, right, strict=True) if other != key)
    assert f"{wrong['prompt']} Your answer: " in said["some"] and "ligne" in said["some"]  # asked in French
    assert "it was changed, or they were asked with another seed" in said["changed"] and "not answered" in said["none"]
    assert "did not pass" in said["wrong"]
    assert points_in_cluster(course, questions.GRADE_ID, monkeypatch) == expected


def cell(points: float = 3.0) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell("", metadata={"nbgrader": {"points": points}})


def test_exercises_share_the_points_and_one_without_questions_is_left_out() -> None:
    found = {"a": record.JudgedAnswers(1, 2, ""), "b": record.JudgedAnswers(3, 3, ""),
             "c": record.JudgedAnswers(0, 0, "nothing to ask")}  # fmt: skip
    verdict = questions.grade(cell(), found)
    assert (verdict.score, verdict.status) == (2.25, "failed")
    assert [(one.status, one.points, one.of) for one in verdict.checks] == [
        ("failed", 0.75, 1.5), ("passed", 1.5, 1.5), ("not_run", 0.0, 0.0)
    ]  # fmt: skip
    assert questions.grade(cell(), {"c": found["c"]}).status == "not_graded"  # a person decides


def test_slow_code_does_not_take_its_questions_away_from_those_that_count() -> None:
    found = {"a": record.JudgedAnswers(3, 3, ""), "b": record.JudgedAnswers(0, 0, "no time", undecided=True)}
    verdict = questions.grade(cell(), found)
    assert (verdict.status, verdict.score) == ("not_graded", 0.0) and "`b`" in verdict.reason


@pytest.mark.parametrize(("status", "counts"), [("passed", None), ("failed", 1), ("not_graded", 0)])
def test_only_a_passed_exercise_has_questions(status: str, counts: int | None) -> None:
    verdict = Verdict(exercise="a", status=status, score=0.0, max_score=1.0)
    known = questions.without_answers(verdict)
    assert (known and known.asked) == counts


def test_a_record_that_is_none_has_no_answers_and_the_instructor_is_told(tmp_path: Path) -> None:
    assert questions.questions_fault(tmp_path) == ""
    for name, text, why in (
        ("cut", "{", "it is not as"),
        ("list", "[1]", "it is not as"),
        ("huge", " " * (1 << 21), "larger"),
    ):
        folder = tmp_path / name
        (folder / ".tfkit").mkdir(parents=True)
        (folder / record.FILE).write_text(text)
        assert questions.recorded_answers(folder) == {} and why in questions.questions_fault(folder)
    pipe = tmp_path / "pipe"
    (pipe / ".tfkit").mkdir(parents=True)
    os.mkfifo(pipe / record.FILE)  # whoever opens it waits forever
    whole = {"answered": {"a": {"code": "0", "at": "now", "asked": []}, "b": 3}}
    assert questions.recorded_answers(pipe) == {}
    (tmp_path / "cut" / record.FILE).write_text(json.dumps(whole))
    assert questions.recorded_answers(tmp_path / "cut") == {}
