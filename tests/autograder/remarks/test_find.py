"""Remarks without points: each with an answer that gets it, and with a near miss that must not get it."""

import time

import pytest
import torch

from autograder.checks.probe import Answer, Case, Check, Finding, Probe
from autograder.feedback.html import verdict_html
from autograder.feedback.text import verdict_text
from autograder.grade import run
from autograder.remarks.find import _of_one_kind, find_remarks
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


def remarks(source, exercise=ATTEND, others=()):
    """The remarks on an answer, asked about two inputs of different size, in a box; others: further cells, id → source,
    before the answer, which is the cell `answer`."""
    check = Check("right values", lambda draw, reference: [], core=True)
    answers = tuple(Answer(Probe(case.value, case), None, None, None) for case in FUNCTION[exercise])
    cells = [*others, ("answer", source)]
    with SandboxClient(choose()) as student:
        outcomes = student.run_cells([Cell(*cell) for cell in cells])
        assert not any(one.error for one in outcomes)
        own = {id for id, _ in cells if id.startswith("answer")}
        return find_remarks(exercise, cells, own, student, [Finding(check, answers)])


def names(source):
    """The names of the remarks on an answer."""
    return [one.name for one in remarks(source)]


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


REPEATED = "w = q @ q.mT\nu = q @ q.mT\n"


@pytest.mark.parametrize(
    "body",
    [
        "if q.shape[1] > 4:\n    p = q @ k.mT\nelse:\n    p = q @ k.mT",
        "p = q @ k.mT\nk = k * 1.0\np = q @ k.mT",
        "p = q @ k.mT if q.shape[1] > 4 else q @ k.mT",
    ],
)
def test_another_product_that_is_computed_twice_says_nothing_of_one_that_is_not(body):
    found = remarks(attend(f"{REPEATED}{body}\np = torch.softmax(p, -1)\nreturn p @ v, p"))
    assert [(one.name, one.line) for one in found] == [("computed_again", 7)] and "`q @ q.mT`" in found[0].text


def test_of_two_products_in_one_line_it_is_not_known_which_was_made_again():
    body = "w, p = q @ q.mT, q @ k.mT\nk = k * 1.0\nw, p = q @ q.mT, q @ k.mT\nreturn torch.softmax(p, -1) @ v, p"
    assert names(attend(body)) == []


def test_a_loop_over_positions_and_one_over_a_constant():
    loop = attend(
        "rows = [torch.softmax(q[:, i : i + 1] @ k.mT, -1) for i in range(q.shape[1])]\n"
        "p = torch.cat(rows, 1)\nreturn p @ v, p"
    )
    (found,) = remarks(loop)
    assert (found.name, found.line) == ("loop_over_input", 6) and "for a larger input" in found.text
    constant = attend("p = q @ k.mT\nfor _ in range(2):\n    p = p * 1.0\np = torch.softmax(p, -1)\nreturn p @ v, p")
    assert names(constant) == []


ROWS = "rows = []\nfor i in range(q.shape[1]):\n    rows.append(torch.softmax(q[:, i] @ k[0].T, -1))\n"


def test_a_line_is_named_only_if_one_loop_makes_more_operations():
    constant = attend(f"for _ in range(2):\n    k = k * 1.0\n{ROWS}p = torch.stack(rows, 1)\nreturn p @ v, p")
    assert [(one.name, one.line) for one in remarks(constant)] == [("loop_over_input", 9)]
    both = attend(
        f"{ROWS}for i in range(q.shape[1]):\n    rows[i] = rows[i] * 1.0\np = torch.stack(rows, 1)\nreturn p @ v, p"
    )
    assert [(one.name, one.line) for one in remarks(both)] == [("loop_over_input", None)]


def test_only_cases_of_one_function_and_one_kind_of_arguments_are_compared():
    x, y, long = torch.ones(2), torch.ones(3), torch.ones(9)
    assert list(_of_one_kind([Case("f", (x,)), Case("g", (long,))])) == []
    assert list(_of_one_kind([Case("f", (x,)), Case("f", (long,), {"mask": x}), Case("f", (x,))])) == []
    (pair,) = _of_one_kind([Case("f", (y,)), Case("g", (long,)), Case("f", (x,))])
    assert [case.size() for case in pair] == [2, 3]


def test_a_line_is_named_only_in_the_one_cell_that_answers_the_exercise():
    helper = ("helper", "def helper(x, seen=[]):\n    return x\n")
    answer = attend("return torch.softmax(helper(q) @ k.mT, -1) @ v, None", "q, k, v, seen={}")
    assert [one.line for one in remarks(answer, others=[helper])] == [None, 5]
    assert [one.line for one in remarks(answer, others=[("answer-2", helper[1])])] == [None, None]


SUMS = "def f(a):\n" + "    return {}\n".format("+".join(["a"] * 2_000)) * 3
MANY = {
    "a list beyond the bounds of the parser": "x = [" + "1," * 2_000_000 + "]",  # took seconds and gigabytes
    "long sums": SUMS,  # each part of them was searched for products: 20 s
    "long products": SUMS.replace("+", "@"),
}


@pytest.mark.parametrize("source", MANY.values(), ids=MANY)
def test_code_that_is_made_to_keep_the_grader_busy_costs_no_more_than_the_remark(source):
    started = time.process_time()
    assert find_remarks(ATTEND, [("answer", source)], {"answer"}, None, []) == []
    assert time.process_time() - started < 1


FORGED = """
calls = [0]

def forge():
    if "remarks_begin" in globals():
        calls[0] += 1
        spy = remarks_begin.__globals__["modes"][0]
        spy.lines.update({f"scaled_dot_product_attention:5:{10**6 + i}": 1 for i in range(COUNT)})
        spy.lines |= {f"scaled_dot_product_attention:5:{line}": calls[0] for line in (7, "9" * 9000)}
"""


@pytest.mark.parametrize(("count", "loops", "said"), [(0, 1, True), (600, 1, False), (0, 150, False)])
def test_a_report_or_code_that_no_person_writes_gets_no_remark(count, loops, said):
    """Each place of a report was compared with each loop: 20,000 with 500 took the grader 22 s, all that fit hours."""
    lines = "forge()\n[0 for _ in ()]" + "; [0 for _ in ()]" * (loops - 1)
    source = attend(f"{lines}\nreturn torch.softmax(q @ k.mT, -1) @ v, None") + FORGED.replace("COUNT", str(count))
    assert names(source) == ["loop_over_input"] * said


def test_an_argument_that_is_changed_and_a_copy_that_is():
    assert names(attend("q.mul_(2)\nreturn torch.softmax(q @ k.mT, -1) @ v, None")) == ["argument_changed"]
    assert names(attend("q = q.clone()\nq.mul_(2)\nreturn torch.softmax(q @ k.mT, -1) @ v, None")) == []


def test_code_that_does_not_parse_or_raises_costs_only_the_remark():
    source = attend("for _ in range(2):\n    raise ValueError\nreturn 1")
    assert names(source) == []
    assert find_remarks(ATTEND, [("a", "%%time\nx = 1")], (), None, []) == []


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
