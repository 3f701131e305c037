"""Two mistakes in one answer are both named; what no two explain is not."""

from __future__ import annotations

import itertools
import threading
import time

import pytest

from autograder.api import BESIDES
from autograder.checks.compare import Difference
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer, Check, Finding, collect_answers
from autograder.checks.properties.cost import OTHER_VALUES, TOO_EXPENSIVE, WITHIN_LIMIT
from autograder.checks.reference import reference_of
from autograder.corpus.judge import ask_reference
from autograder.diagnosis.compose import CombinedMistakes, are_compatible
from autograder.diagnosis.diagnose import answers_to_compare, diagnose, known_answers
from autograder.diagnosis.limit import TimeLimitExceeded, time_limit
from autograder.exercises import registry
from autograder.exercises.answers import answer

BETWEEN_HINTS = f"\n\n{BESIDES} "

ATTENTION = registry.find("attention.scaled_dot_product")


@pytest.fixture(scope="module")
def question_sets():
    return ask_reference(ATTENTION, 11)


def findings(question_sets, source):
    namespace: dict = {}
    exec(source, namespace)
    return collect_answers(question_sets, LocalSubject(namespace))


OTHER_STYLE = """
import torch
def scaled_dot_product_attention(q, k, v, mask=None):
    s = torch.einsum("...qd,...kd->...qk", q, k) / q.size(-1)
    if mask is None:
        mask = s.new_ones(s.shape[-2:]).bool()
    w = s.masked_fill(mask, torch.finfo(s.dtype).min).softmax(-1)
    w = w.masked_fill(mask.all(-1, keepdim=True), 0.0)
    return w @ v, w
"""


def test_two_mistakes_in_another_style_are_both_named(question_sets):
    found = diagnose(ATTENTION, findings(question_sets, OTHER_STYLE))
    assert set(found.names) == {"divided_by_d", "mask_inverted"}
    first, second = found.hint.split(BETWEEN_HINTS)
    assert "divide the scores by d" in first + second and "mask the wrong way round" in first + second


def test_a_cost_that_could_not_be_measured_tells_no_mistakes_apart(question_sets):
    """In a box the values on the long input are wrong; a mistake of ours has a cost on a small one."""
    found = findings(question_sets, OTHER_STYLE)
    probe, check = found[0].answers[0].probe, Check("cost", lambda draw, reference: [], property="cost")
    cost = [Answer(probe, WITHIN_LIMIT, actual, Difference(actual)) for actual in (OTHER_VALUES, TOO_EXPENSIVE)]
    assert list(answers_to_compare(Finding(check, tuple(cost)))) == cost[1:]
    assert diagnose(ATTENTION, [*found, Finding(check, tuple(cost[:1]))]) == diagnose(ATTENTION, found)


@pytest.mark.parametrize("name", ["sparse.sliding_window", "convbert.dynamic_conv"])
def test_a_cost_that_could_not_be_measured_names_no_mistake_alone(name):
    """All values are right on short inputs: a mistake that gives the same ones need not be in the code."""
    exercise = registry.find(name)
    found = collect_answers(ask_reference(exercise, 11), reference_of(exercise))
    assert not any(one.failed for one in found)
    check = Check("cost", lambda draw, reference: [], property="cost")
    probe = found[0].answers[0].probe
    cost = Answer(probe, WITHIN_LIMIT, OTHER_VALUES, Difference(OTHER_VALUES))
    assert diagnose(exercise, [*found, Finding(check, (cost,))]) is None


def test_one_mistake_is_no_two(question_sets):
    source = OTHER_STYLE.replace("(mask.all", "(~mask.any").replace("masked_fill(mask,", "masked_fill(~mask,")
    assert diagnose(ATTENTION, findings(question_sets, source)).name == "divided_by_d"


def test_what_no_two_explain_is_not_named(question_sets):
    source = OTHER_STYLE.replace("/ q.size(-1)", "* 0.123")
    assert diagnose(ATTENTION, findings(question_sets, source)) is None


def test_only_mistakes_on_different_lines_of_one_base_fit():
    one, other = (answer(ATTENTION, name) for name in ("divided_by_d", "no_scale"))
    third = answer(ATTENTION, "mask_inverted")
    assert not are_compatible((one, other)) and are_compatible((one, third)) and not are_compatible((one, other, third))
    edits = [known for known in known_answers(ATTENTION) if hasattr(known, "replacements")]
    pairs = [CombinedMistakes(pair) for pair in itertools.combinations(edits, 2) if are_compatible(pair)]
    assert len(pairs) > 80
    for pair in pairs:
        compile(pair.read_text(), "pair.py", "exec")


def test_what_never_ends_is_stopped_in_any_thread():
    ended: list[bool] = []

    def work():
        try:
            with time_limit(0.05):
                while True:
                    pass
        except TimeLimitExceeded:
            ended.append(True)
        with time_limit(5.0):
            ended.append(True)

    thread = threading.Thread(target=work)
    start = time.monotonic()
    thread.start()
    thread.join(30)
    assert ended == [True, True] and time.monotonic() - start < 29


def test_what_swallows_the_end_of_its_time_holds_nobody_up():
    ended: list[bool] = []

    def work():
        with time_limit(0.05):
            try:
                while True:
                    int("1")
            except BaseException:  # as an answer may do
                ended.append(True)
        ended.append(True)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(30)
    assert ended == [True, True]
