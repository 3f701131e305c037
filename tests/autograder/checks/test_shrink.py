"""Counter-examples are as small as the mistake allows, and cases that make no sense are none."""

from types import SimpleNamespace

import pytest
import torch

from autograder.checks import Case, values
from autograder.checks.local import LocalSubject
from autograder.checks.probe import examine
from autograder.checks.reference import reference_of
from autograder.checks.shrink import CALLS, SECONDS, shrink_counterexample
from autograder.corpus.judge import ask_reference, examine_answer
from autograder.diagnosis.compose import subject_of
from autograder.diagnosis.diagnose import counterexample, diagnose, simplest
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.grade import run
from autograder.sandbox import choose, work_time

SHAPES = {  # by query, keys, values, mask: the smallest on which the mistake can show
    "mask_inverted": [[1, 1, 1]] * 3,
    "softmax_over_the_queries": [[1, 2, 1], [1, 1, 1], [1, 1, 1]],
    "scaled_by_key_count": [[1, 1, 1], [1, 2, 1], [1, 2, 1]],
    "no_scale": [[1, 1, 2], [1, 2, 2], [1, 2, 1]],
    "mask_ignored": [[1, 1, 1], [1, 2, 1], [1, 2, 1], [1, 1, 2]],
}


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """The clocks that limit the search: they stand still, so that a busy machine finds what an idle one does."""
    clock = SimpleNamespace(now=0.0)
    stopped = SimpleNamespace(monotonic=lambda: clock.now, thread_time=lambda: clock.now)
    monkeypatch.setattr(work_time, "time", stopped)
    return clock


def path(exercise, kind, name):
    return next(path for path in answers(exercise, kind) if path.stem == name)


def made_smaller(exercise, name, seed):
    findings = examine_answer(path(exercise, "wrong", name), ask_reference(exercise, seed))
    right = [subject_of(path) for path in answers(exercise, "right")]
    return findings, shrink_counterexample(
        findings, subject_of(path(exercise, "wrong", name)), reference_of(exercise), right
    )


def shapes(inputs):
    return [list(torch.tensor(value).shape) for value in inputs.values()]


@pytest.mark.parametrize("name", SHAPES)
def test_attention_fails_on_the_smallest_inputs_with_whole_numbers(name):
    exercise = registry.find("attention.scaled_dot_product")
    drawn, smaller = made_smaller(exercise, name, seed=3)
    shown = counterexample(exercise, smaller)
    assert shapes(shown["inputs"]) == SHAPES[name]
    assert all(float(number).is_integer() for value in shown["inputs"].values() for number in _leaves(value))
    assert simplest(smaller).message == shown["message"]
    assert diagnose(exercise, smaller) == diagnose(exercise, drawn)


def _leaves(value):
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, list) else [value]


@pytest.mark.parametrize(
    ("name", "length"),
    [("own_position_hidden", 2), ("nothing_hidden", 2), ("only_itself", 2), ("previous_word_only", 3)],
)
def test_a_causal_mask_is_shown_as_short_as_the_mistake_is_visible(name, length):
    exercise = registry.find("masks.causal")
    assert counterexample(exercise, made_smaller(exercise, name, seed=5)[1])["inputs"] == {"length": length}


def test_padding_is_shown_with_two_words():
    exercise = registry.find("masks.padding")
    inputs = counterexample(exercise, made_smaller(exercise, "one_mask_for_the_batch", seed=5)[1])["inputs"]
    assert shapes({"ids": inputs["ids"]}) == [[2, 1]]


def long_case(draw):
    yield Case("f", (draw.normal(4, 6), 9))


def shrunk_long_case(reference, wrong, right=()):
    subject, reference = LocalSubject({"f": wrong}), LocalSubject({"f": reference})
    findings = examine([values(long_case)], subject, reference, 0)
    return shrink_counterexample(findings, subject, reference, [LocalSubject({"f": other}) for other in right])[0]


def test_what_the_reference_refuses_or_right_answers_disagree_on_is_no_case():
    def reference(x, n):
        if n < 3:
            raise ValueError("n is at least 3")
        return x.sum(-1) * (1.0 if x.shape[0] > 1 else 2.0)  # of one row the exercise says nothing

    found = shrunk_long_case(reference, lambda x, n: x.sum(-1) + 1, [lambda x, n: x.sum(-1)]).shrunk.probe.case
    assert (list(found.args[0].shape), found.args[1]) == ([2, 1], 3)


def test_what_belongs_together_is_not_broadcast():
    exercise = registry.find("objectives.replaced_tokens")
    inputs = counterexample(exercise, made_smaller(exercise, "divided_by_all", seed=0)[1])["inputs"]
    assert len({str(shape) for shape in shapes(inputs)}) == 1


def test_a_tie_is_no_case():
    found = shrunk_long_case(lambda x, n: x.argmax(-1), lambda x, n: x.argmin(-1)).shrunk.probe.case
    assert found.args[0].shape == (1, 2) and len(set(found.args[0].flatten().tolist())) == 2


def test_inputs_without_numbers_stay():
    def empty_case(draw):
        yield Case("f", (draw.normal(0, 3), []))

    findings = examine(
        [values(empty_case)], LocalSubject({"f": lambda x, n: 1}), LocalSubject({"f": lambda x, n: 2}), 0
    )
    found = shrink_counterexample(findings, LocalSubject({"f": lambda x, n: 1}), LocalSubject({"f": lambda x, n: 2}))[
        0
    ].shrunk.probe.case
    assert found.args[0].shape[0] == 0 and found.args[1] == []


def test_calls_of_the_students_code_are_bounded():
    calls = []

    def wrong(x, n):
        calls.append(x.shape)
        return x.sum() + (1.0 if x.shape == (4, 6) and n == 9 else 0.0)  # only as it was drawn

    found = shrunk_long_case(lambda x, n: x.sum(), wrong)
    assert len(calls) <= 1 + CALLS and found.shrunk.probe.case.args[0].shape == (4, 6)


def test_slow_code_is_not_asked_for_long(clock):
    calls = []

    def wrong(x, n):
        calls.append(x.shape)
        clock.now += 0.7
        return x.sum() + 1.0 * (x.numel() > 20)

    shrunk_long_case(lambda x, n: x.sum(), wrong)
    assert 2 < len(calls) <= 2 + SECONDS / 0.7  # the drawn one, and one that is under way when time is up


def test_a_verdict_is_the_same_again_and_its_counterexample_small():
    exercise = registry.find("attention.scaled_dot_product")
    source = path(exercise, "wrong", "no_scale").read_text()
    one, other = (run.grade_source(exercise, source, backend=choose(), seed=11) for _ in range(2))
    assert (one.misconception, one.score) == ("no_scale", 2.1)  # of 3: one known edit away
    assert shapes(one.counterexample["inputs"]) == SHAPES["no_scale"]
    assert one.as_json() == other.as_json()
