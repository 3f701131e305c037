"""What is counted is what the code does: whatever name it was imported by, however busy the machine."""

import subprocess
import sys

import pytest
import torch

from autograder import registry
from autograder.checks import Case, built, cost
from autograder.checks.corpus import answers
from autograder.checks.local import Local
from autograder.checks.probe import examine
from autograder.checks.work import ATTENTION, SPY, seen
from autograder.sandbox import choose
from autograder.student import Cell, Student

BY_HAND = "def attend(q, k, v):\n    return (q @ k.transpose(-2, -1) / q.size(-1) ** 0.5).softmax(-1) @ v"
BORROWED = {
    "by its name": "import torch.nn.functional as F\ndef attend(q, k, v):\n"
    "    return F.scaled_dot_product_attention(q, k, v)",
    "by another": "from torch.nn.functional import scaled_dot_product_attention as f\ndef attend(q, k, v):\n"
    "    return f(q, k, v)",
    "in a module": "import torch\nm = torch.nn.MultiheadAttention(4, 2, batch_first=True)\n"
    "def attend(q, k, v):\n    return m(q, k, v)[0]",
}


def fake_student(source):
    """A boxed student's methods, in this process."""
    namespace: dict = {"__name__": "student"}
    exec(compile(source, "student.py", "exec"), namespace)
    return Local(namespace)


def cases(draw):
    yield Case("attend", tuple(draw.normal(1, 3, 4) for _ in range(3)))


def verdict(check, source):
    return examine([check], fake_student(source), fake_student(BY_HAND), 1)[0]


@pytest.mark.parametrize("how", BORROWED)
def test_borrowing_is_told_and_where_asked_it_fails(how):
    reported, failed = (verdict(built(cases, ATTENTION, graded=graded), BORROWED[how]) for graded in (False, True))
    assert "torch's own" in reported.message and not reported.failed and reported.check.weight == 0
    assert "torch's own" in failed.message and failed.failed


def test_what_is_built_by_hand_is_not_borrowed():
    finding = verdict(built(cases, ATTENTION, graded=True), BY_HAND)
    assert finding.message == "" and not finding.failed


WINDOW = """
def local_mean(x):  # of each place and its left neighbour
    return x + x.roll(1, 0)
"""
SQUARE = """
import torch
def local_mean(x):
    places = torch.arange(len(x))
    near = (places[:, None] - places) % len(x) <= 1
    return near.to(x.dtype) @ x
"""


def test_a_sliding_window_that_fills_a_square_costs_too_much():
    def long(draw):
        yield Case("local_mean", (draw.normal(64, 1),))

    check = cost(long, "the window is narrow")
    found = [examine([check], fake_student(source), fake_student(WINDOW), 1)[0] for source in (WINDOW, SQUARE)]
    assert found[0].message == ""
    assert found[1].message == "the window is narrow (it computes and holds at once more than 4 times what is needed)"


LONG = 4096


@pytest.mark.parametrize(("kind", "name"), [("right", "textbook"), ("wrong", "table_of_all_pairs")])
def test_what_is_counted_inside_is_what_is_seen_from_outside(kind, name):
    """The control group's peak, which no student's code can touch: a table of all pairs is in it."""
    exercise = registry.find("sparse.sliding_window")
    source = next(path for path in answers(exercise, kind) if path.stem == name).read_text()
    with Student(choose()) as student:
        student.run_cells([Cell("answer", source)])
        before = student.usage().peak_bytes
        if not before:
            pytest.skip("no control group counts the memory of boxes here")
        student.call("sliding_window_attention", *(torch.randn(1, LONG, 4) for _ in range(3)), 4)
        grown = student.usage().peak_bytes - before
    assert (grown > 4 * LONG**2) == (kind == "wrong"), f"{grown >> 20} MB"


def test_products_count_their_inner_length_and_views_hold_nothing():
    counted = seen(Local({}), lambda: torch.ones(2, 3) @ torch.ones(3, 5))
    assert counted["work"] == 2 * 3 + 3 * 5 + 2 * 3 * 5
    assert seen(Local({}), lambda: torch.ones(2).expand(1000, 2))["largest"] == 8


def test_the_spy_leaves_when_the_code_stops():
    def fails():
        raise ValueError

    with pytest.raises(ValueError):
        seen(Local({}), fails)
    assert torch.ones(1).sum() == 1 and torch.overrides._get_current_function_mode() is None


def test_the_spy_is_quick_in_a_fresh_process():
    """It runs in every box. torch's compiler, which a dispatch mode may load, takes seconds."""
    code = "import sys; exec(sys.argv[1]); spy_begin(); torch.ones(2) @ torch.ones(2); print(spy_end()['work'])"
    code += "; print('torch._dynamo.eval_frame' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, SPY], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["6", "False"]
