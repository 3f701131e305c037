"""Remarks without points: each with an answer that gets it, and with a near miss that must not get it."""

import pytest
import torch

from autograder.checks.probe import Answer, Case, Check, Finding, Probe
from autograder.feedback.html import verdict_html
from autograder.feedback.text import verdict_text
from autograder.grade import run
from autograder.remarks.find import find_remarks
from autograder.sandbox import choose
from autograder.sandbox.client import Cell, SandboxClient
from course import exercises

ATTEND = next(one for one in exercises() if one.id == "attention.scaled_dot_product")
FUNCTION = {
    ATTEND: (
        Case("scaled_dot_product_attention", (torch.randn(1, 2, 4), torch.randn(1, 3, 4), torch.randn(1, 3, 4))),
        Case("scaled_dot_product_attention", (torch.randn(1, 7, 4), torch.randn(1, 9, 4), torch.randn(1, 9, 4))),
    )
}


def names(source, exercise=ATTEND):
    """The names of the remarks on an answer, asked about two inputs of different size, in a box."""
    check = Check("right values", lambda draw, reference: [], core=True)
    answers = tuple(Answer(Probe(case.value, case), None, None, None) for case in FUNCTION[exercise])
    with SandboxClient(choose()) as student:
        (outcome,) = student.run_cells([Cell("a", source)])
        assert outcome.error is None
        return [one.name for one in find_remarks(exercise, [source], student, [Finding(check, answers)])]


def attend(body, head="q, k, v"):
    return f"import math\nimport torch\n\n\ndef scaled_dot_product_attention({head}):\n" + "".join(
        f"    {line}\n" for line in body.split("\n")
    )


PLAIN = attend("p = torch.softmax(q @ k.transpose(1, 2), -1)\nreturn p @ v, p")


def test_a_plain_answer_gets_no_remark():
    assert names(PLAIN) == []


@pytest.mark.parametrize(("default", "said"), [("[]", True), ("dict()", True), ("()", False), ("None", False)])
def test_a_default_that_all_calls_share(default, said):
    source = attend("return torch.softmax(q @ k.mT, -1) @ v, None", f"q, k, v, seen={default}")
    assert names(source) == ["shared_default"] * said


def test_a_product_that_is_computed_twice_and_one_of_other_tensors():
    twice = attend("p = torch.softmax(q @ k.mT, -1)\nreturn p @ v, torch.softmax(q @ k.mT, -1)")
    assert names(twice) == ["computed_again"]
    other = attend("a = q @ k.mT\nq = q + 1\nreturn torch.softmax(q @ k.mT, -1) @ v, a")
    assert names(other) == []  # the same text, of other tensors


def test_a_loop_over_positions_and_one_over_a_constant():
    loop = attend(
        "rows = [torch.softmax(q[:, i : i + 1] @ k.mT, -1) for i in range(q.shape[1])]\n"
        "p = torch.cat(rows, 1)\nreturn p @ v, p"
    )
    assert names(loop) == ["loop_over_tokens"]
    constant = attend("p = q @ k.mT\nfor _ in range(2):\n    p = p * 1.0\np = torch.softmax(p, -1)\nreturn p @ v, p")
    assert names(constant) == []


def test_an_argument_that_is_changed_and_a_copy_that_is():
    assert names(attend("q.mul_(2)\nreturn torch.softmax(q @ k.mT, -1) @ v, None")) == ["argument_changed"]
    assert names(attend("q = q.clone()\nq.mul_(2)\nreturn torch.softmax(q @ k.mT, -1) @ v, None")) == []


def test_code_that_does_not_parse_or_raises_costs_only_the_remark():
    source = attend("for _ in range(2):\n    raise ValueError\nreturn 1")
    assert names(source) == []
    assert find_remarks(ATTEND, ["%%time\nx = 1"], None, []) == []


RIGHT = """
import torch

def causal_mask(length, seen=[]):
    return torch.ones(length, length, dtype=torch.bool).tril()
"""


def test_remarks_are_in_json_card_and_terminal_and_cost_nothing():
    exercise = next(one for one in exercises() if one.id == "masks.causal")
    verdict = run.grade_source(exercise, RIGHT, backend=choose())
    assert (verdict.status, verdict.score) == ("passed", exercise.points)
    data = verdict.as_json()
    assert [(one["name"], one["line"]) for one in data["remarks"]] == [("shared_default", 4)]
    html = verdict_html(verdict)
    assert "<details" in html[: html.index("made once and shared")] and "cost no points" in html
    assert "Remark, without points: Line 4: The default of `seen`" in verdict_text(data)
    assert "made once" not in verdict_html(verdict, hints=1)


def test_of_a_card_that_passed_seed_device_and_what_was_not_run_are_below_the_fold():
    exercise = next(one for one in exercises() if one.id == "masks.padding")
    source = "def padding_mask(ids, pad_id):\n    return (ids != pad_id)[:, None, None, :]\n"
    html = verdict_html(run.grade_source(exercise, source, backend=choose(), device="cpu"), styled=False)
    above = html[: html.index("<details")]
    assert html.count("<details") and "on a CUDA device" in html
    assert not any(word in above for word in ("seed", "device", "not run", "bubblewrap"))
