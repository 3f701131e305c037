"""Who depends on whom: answers about which keys were once wrong, since every change was the same for a whole row."""

import random

import pytest
import torch

from autograder.exercises import registry
from autograder.questions import dependence, inputs, variants
from autograder.questions.make import questions
from autograder.questions.runs import CodeRunner, StudentCode

LOG_PROBS = """\
import torch


def sequence_log_probs(logits, labels):
    logits = logits[:, :-1]
    targets = labels[:, 1:]
    counted = targets != -100
    safe = torch.where(counted, targets, torch.zeros_like(targets))
    log_probs = torch.log_softmax(logits, dim=-1)
    chosen = log_probs.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    chosen = torch.where(counted, chosen, torch.zeros_like(chosen))
    return chosen.sum(dim=-1)
"""
ONE_HOT = LOG_PROBS.replace(
    "log_probs.gather(-1, safe.unsqueeze(-1)).squeeze(-1)",
    "(log_probs * torch.nn.functional.one_hot(safe, logits.shape[-1])).sum(dim=-1)",
)
SAMPLE = """\
import torch


def sample_token(logits, u, temperature=1.0):
    if temperature == 0:
        return torch.argmax(logits, dim=-1)
    p = torch.softmax(logits / temperature, dim=-1)
    edges = torch.cumsum(p, dim=-1)
    drawn = torch.searchsorted(edges, u.to(edges.dtype)[:, None], right=True)[:, 0]
    last = torch.where(p > 0, torch.arange(p.shape[1]), 0).amax(dim=1)
    return torch.minimum(drawn, last)
"""


def first_call(code, run):
    """The first small call that the code answers."""
    every = (inputs.usable(code.exercise, one, run, code.text) for one in inputs.cases(code.exercise, "0"))
    return inputs.call_of(code.exercise, next(filter(None, every)))


def lines_of(text, backend):
    """The questions about lines, with what their third way gives."""
    code = StudentCode(registry.find("tuning.sequence_log_probs"), text)
    with CodeRunner(code, backend) as run:
        call, rng = first_call(code, run), random.Random(0)
        found = list(dependence.lines(run, call, variants.steps(text, range(5, 13), rng), rng))
        return [(one, one.find_again(run)) for one in found]


def test_the_line_that_hides_an_ignored_place_is_the_one_that_sets_it_to_zero(backend):
    ((one, third),) = lines_of(ONE_HOT, backend)
    assert "line 11: " in one.options[one.key] and third == one.key and one.parts["what"] == "logits"


def test_a_line_is_not_asked_for_where_another_one_opens_the_way_too(backend):
    assert lines_of(LOG_PROBS, backend) == []  # without `squeeze` in line 10, what is ignored is broadcast


def test_a_step_is_no_sign_of_an_axis():
    lines = {one.new for one in variants.steps("def f(x):\n    return (-x).sum(dim=-1)[-1]\n", [2], random.Random(0))}
    assert "return x.sum(dim=-1)[-1]" in lines or "return (x).sum(dim=-1)[-1]" in lines
    assert not any("dim=1" in line or "[1]" in line for line in lines)


def test_results_of_whole_numbers_have_no_questions_about_rows(backend):
    code = StudentCode(registry.find("decoding.sample"), SAMPLE)
    found = questions(code, backend, 0, 8)
    assert found and not {"rows", "line"} & {one.topic for one in found}


@pytest.mark.parametrize(
    ("value", "count"),
    [((torch.ones(2, 3), torch.ones(2, 5)), 2), ((torch.ones(2, 3), torch.ones(4, 3)), 0),
     ((torch.ones(2, 3), torch.ones(2, 3, dtype=torch.int64)), 0), (torch.ones(3) > 0, 0), (torch.ones(3), 1)],
)  # fmt: skip
def test_rows_are_compared_of_all_tensors_of_a_result(value, count):
    assert len(dependence._rows_of(value) or []) == count


def test_rows_in_which_only_one_of_two_results_changes_are_not_asked_for(code, backend):
    with CodeRunner(code, backend) as run:
        call = first_call(code, run)
        row = dependence.InputRow("query", 0, 0)
        assert dependence.dependent_rows(run, code.text, call.case, call, row) is not None
        one_of_two = code.text.replace("return context, weights", "return context * 0, weights")
        assert dependence.dependent_rows(run, one_of_two, call.case, call, row) is None


def test_the_third_way_tells_of_a_second_line_that_opens_the_way(backend):
    code = StudentCode(registry.find("tuning.sequence_log_probs"), LOG_PROBS)
    with CodeRunner(code, backend) as run:
        call, steps = first_call(code, run), variants.steps(LOG_PROBS, range(5, 13), random.Random(0))
        by_line = [[one for one in steps if one.line == line and "counted" not in one.new] for line in (9, 10, 11)]
        hidden, seen = (dependence.InputRow("logits", 1, index) for index in (1, 0))
        assert dependence._key_of_line_again(call, hidden, 0, by_line)(run) == "options [1, 2]"
        assert dependence._key_of_line_again(call, hidden, 0, by_line[:2])(run) == 1
        assert dependence._key_of_line_again(call, seen, 0, by_line)(run) == "it depends on it"
