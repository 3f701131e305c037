"""A student's test is judged by what it says of right code, of the hunt's code and of other mistakes."""

import random

import pytest

from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.exercises.contracts import without_adapter
from autograder.hunts import make, own_test
from autograder.hunts.judge import part_of_test
from autograder.hunts.own_test import BadTest, judge_test, read_test, run_test
from autograder.sandbox import choose
from autograder.sandbox.client import StudentError

HUNT = make.find("masks.causal/sees_one_ahead")
CAUSAL = HUNT.exercise
GOOD = """
def test_it(answer):
    mask = answer(4)
    assert mask.dtype == torch.bool
    assert torch.equal(mask, torch.ones(4, 4).tril().bool())
"""
NARROW = "def test_it(causal_mask):\n    assert not causal_mask(3)[0, 1]\n"


@pytest.fixture(scope="module")
def backend():
    return choose()


def judge(source, backend):
    return judge_test(HUNT, read_test(CAUSAL, source), backend)


def test_a_good_test_catches_more_than_a_narrow_one(backend):
    good, narrow = judge(GOOD, backend), judge(NARROW, backend)
    for report in (good, narrow):
        assert report.accepted == report.right == len(answers(CAUSAL, "right"))
        assert report.catches and report.others == 10
    assert good.killed > narrow.killed
    assert "only_itself" in narrow.missed and "only_itself" not in good.missed
    assert good.message == "AssertionError (line 5)"


def test_a_test_that_right_code_fails_is_not_tried_on_other_mistakes(backend):
    report = judge("def test_it(answer):\n    assert answer(3).dtype == torch.float32\n", backend)
    assert (report.accepted, report.others, report.killed) == (0, 0, 0)


BY_HEART = """
SHOWN = {code!r}


def test_it(answer):
    space = {{"torch": torch}}
    exec(SHOWN, space)
    shown, here = space["causal_mask"].__code__, answer.__code__
    assert here.co_code[:-8] not in shown.co_code or here.co_names != shown.co_names
"""


KNOWS_PARTS = """
SHOWN = {code!r}
NEW = {{"abs", "all", "any", "bool", "dict", "float", "int", "len", "list", "max", "min", "range", "set", "sum"}}


def test_it(answer):
    space = {{"torch": torch}}
    exec(SHOWN, space)
    shown, here = space["causal_mask"].__code__, answer.__code__
    names = [[name for name in code.co_names if name not in NEW] for code in (shown, here)]
    assert {differ}
"""
DIFFER = (
    "names[0] != names[1] or shown.co_consts != here.co_consts",
    "not (set(names[0]) <= set(names[1]) and set(shown.co_consts) <= set(here.co_consts))",
)


@pytest.mark.parametrize("source", [BY_HEART, *(KNOWS_PARTS.replace("{differ}", differ) for differ in DIFFER)])
def test_a_test_that_knows_the_shown_code_by_heart_catches_nothing(source, backend):
    report = judge(source.format(code=HUNT.code), backend)
    assert report.message.startswith("AssertionError (line ") and report.knows_code and not report.catches
    part = part_of_test(report)
    assert part.status == "failed" and part.points < 0.5
    assert "passes on the same code in other words" in part.sentences[0]


SEES_OBFUSCATION = """
def test_it(answer):
    code = answer.__code__
    assert code.co_consts[1:] != {consts!r} and "getattr" not in code.co_names
"""


def test_a_test_that_only_sees_obfuscation_has_a_false_alarm(backend):
    space = {}
    exec(HUNT.code, space)
    report = judge(SEES_OBFUSCATION.format(consts=space["causal_mask"].__code__.co_consts[1:]), backend)
    assert report.accepted < report.right and part_of_test(report).points == 0


def test_the_answer_is_known_by_its_name_too(backend):
    code = HUNT.repair
    assert (
        run_test(CAUSAL, code, read_test(CAUSAL, "def test_it():\n    assert causal_mask(2).shape == (2, 2)"), backend)
        is None
    )


def test_a_test_may_call_earlier_parts_and_take_gradients(backend):
    exercise = registry.find("attention.multi_head")
    code = answers(exercise, "right")[0].read_text()
    source = """
def test_gradients(answer):
    layer, x = answer(4, 2), torch.randn(1, 3, 4, requires_grad=True)
    layer(x, x, x)[0].sum().backward()
    assert x.grad is not None
"""
    assert run_test(exercise, code, read_test(exercise, source), backend) is None


def test_a_test_may_begin_with_an_import_from_the_future(backend):
    source = '"""Of a mask."""\nfrom __future__ import annotations\n' + GOOD.replace("(answer)", "(answer: Absent)")
    test = read_test(CAUSAL, source)
    assert run_test(CAUSAL, HUNT.repair, test, backend) is None
    assert own_test.error_text(run_test(CAUSAL, HUNT.code, test, backend)) == "AssertionError (line 7)"


def test_nothing_is_kept_from_one_code_to_the_next(backend):
    source = """
import builtins

def test_it(answer):
    builtins.count = getattr(builtins, "count", 0) + 1
    assert builtins.count == 1
"""
    report = judge(source, backend)
    assert report.accepted == report.right and not report.catches and report.killed == 0


COUNTS_BOXES = """
import sys

def test_it(answer):
    frame, before = sys._getframe(), 0
    while frame is not None:
        before = frame.f_locals.get("boxes", before)
        frame = frame.f_back
    raise ValueError(before)
"""


def test_a_box_does_not_tell_how_many_there_were_before_it(backend):
    """The process that forks boxes counted them, so that a test knew when all right answers had passed: 1.5 of 1.5."""
    test = read_test(CAUSAL, COUNTS_BOXES)
    told = [run_test(CAUSAL, HUNT.code, test, backend).message for _ in range(8)]
    assert len(set(told[4:])) == 1, told


def test_a_test_that_counts_its_turns_has_a_false_alarm(monkeypatch):
    """By the clock it can count them wherever it runs; but it cannot know what has its turn."""
    assert isinstance(own_test.SHUFFLE.__self__, random.SystemRandom)
    monkeypatch.setattr(own_test, "SHUFFLE", random.Random(0).shuffle)
    styles = [without_adapter(one.read_text()) for one in answers(CAUSAL, "right")]
    others = list(own_test._others(HUNT, 0))
    for passes in range(20):
        ran = []

        def run(code, ran=ran, passes=passes):
            ran.append(code)
            return StudentError("exception", "AssertionError") if len(ran) > passes else None

        assert part_of_test(own_test.report_on(HUNT, styles, others, 0, run)).points < 0.5, passes


def test_what_a_test_says_of_right_code_is_not_in_the_report(backend):
    source = "def test_it(answer):\n    if not answer(3)[0, 1]:\n        raise ValueError(answer(3).tolist())\n"
    report = judge(source, backend)
    assert report.accepted == 0 and not report.catches and report.message == ""


def test_a_test_that_does_not_end_is_run_on_one_right_answer_alone(backend, monkeypatch):
    from autograder.api import Limits

    ran = []
    monkeypatch.setattr(own_test, "LIMITS", Limits(call_s=0.5))
    monkeypatch.setattr(own_test, "run_test", lambda *given: ran.append(given[1]) or run_test(*given))
    report = judge("def test_it(answer):\n    while True: pass\n", backend)
    assert report.accepted == 0 and len(ran) == 2 and ran[1] == HUNT.code


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def test_it(:", "syntax error in line 1"),
        ("def test_it(answer): pass\0", r"a syntax error \(source code string cannot contain null bytes\)"),
        ("assert causal_mask(3)", "no function whose name begins with test"),
        ("def test_it(model): pass", "has a parameter `model`: it may have `answer` or `causal_mask`"),
        ("#" * 30_000, "has 30000 characters"),
    ],
)
def test_what_is_no_test_is_refused_with_a_reason(source, why):
    with pytest.raises(BadTest, match=why):
        read_test(CAUSAL, source)
