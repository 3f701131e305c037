"""Facts about wrong answers: each is said of answers of which it holds, and of none of which it does not."""

from __future__ import annotations

import pytest
import torch

from autograder.checks.compare import RaisedError, Tolerance, compare
from autograder.checks.probe import Answer, Case, Check, Finding, Probe
from autograder.diagnosis.facts import fact, holds_nan, influence
from autograder.diagnosis.shares import of_rows, of_scores, of_sequence

RIGHT = [torch.randn(3, 4, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2)]
GIVEN = [torch.randn(3, 4, generator=torch.Generator().manual_seed(seed)) for seed in (3, 4)]
NOISE = [torch.randn(3, 4, generator=torch.Generator().manual_seed(seed)) for seed in (5, 6)]
MASKS = [value > 0 for value in RIGHT]


def replies(expected, actual):
    probes = [Probe(lambda subject: None, Case("f", (given,)), Tolerance()) for given in GIVEN]
    rows = zip(probes, expected, actual, strict=True)
    return [Answer(probe, one, other, compare(one, other, probe.tolerance)) for probe, one, other in rows]


CASES = [
    (lambda right, given: right.reshape(4, 3), "in the wrong shape"),
    (lambda right, given: right[:, :3], "too short by 1 along its last axis"),
    (lambda right, given: right[None].expand(2, 3, 4), "too many axes (1 more"),
    (lambda right, given: right + given, "the right one plus `x`"),
    (lambda right, given: given, "`x`, unchanged"),
    (lambda right, given: right + right.mean(-1, keepdim=True), "plus a constant, which differs"),
    (lambda right, given: right + right[:1], "off by the same vector"),
    (lambda right, given: right * torch.tensor([[2.0], [3.0], [0.5]]), "times a factor, which differs"),
    (lambda right, given: right.roll(1, -1) * right.norm(dim=-1, keepdim=True) / right.norm(dim=-1, keepdim=True),
     "a vector of the right norm"),
    (lambda right, given: right**3, "right order by size"),
    (lambda right, given: torch.where(given > 0, right, 0.0), "entries of your result are zero"),
    (lambda right, given: right + given.abs(), "it is too large"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "words"), CASES, ids=[words for _, words in CASES])
def test_a_fact_is_said(wrong, words):
    made = [wrong(right, given) for right, given in zip(RIGHT, GIVEN, strict=True)]
    assert words in (fact(replies(RIGHT, made), ["x"]) or "nothing")


def test_of_what_has_nothing_in_common_nothing_is_said():
    assert fact(replies(RIGHT, NOISE), ["x"]) is None
    assert fact(replies(RIGHT, [RIGHT[0] + 1, NOISE[1]]), ["x"]) is None  # true of one of the two
    assert fact(replies(RIGHT, NOISE)[:1], ["x"]) is None  # of one answer much is true by chance


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (MASKS, [mask | noise.gt(0.5) for mask, noise in zip(MASKS, NOISE, strict=True)], "in other places too"),
        (MASKS, [mask & noise.gt(0.5) for mask, noise in zip(MASKS, NOISE, strict=True)], "only where it should be"),
        ([(one, one) for one in RIGHT], list(zip(RIGHT, NOISE, strict=True)), "the first. These are not: the second"),
        ([{"a": one, "b": one} for one in RIGHT], [{"a": one, "b": one + noise} for one, noise in
                                                   zip(RIGHT, NOISE, strict=True)], "`a`. These are not: `b`"),
        (RIGHT, [RaisedError("exception", "KeyError: x"), NOISE[1]], "your code raises an error"),
    ],
)  # fmt: skip
def test_masks_several_results_and_errors(right, wrong, words):
    assert words in (fact(replies(right, wrong), []) or "nothing")


def test_lists_of_tensors_and_texts_are_compared_as_sequences():
    lists = [[one, one + 1, one + 2] for one in RIGHT]
    assert "lacks the last entries" in of_sequence(replies(lists, [one[:2] for one in lists]))
    assert "in reverse order" in of_sequence(replies(lists, [one[::-1] for one in lists]))
    assert of_sequence(replies(["a cat", "a dog"], ["a", "a"])) == "Your text is wrong: it lacks the last entries."


def gradients(**more):
    return [{"gradient of input": [torch.ones(3, 4)], "gradient of q.weight": torch.ones(2), **more} for _ in GIVEN]


def test_what_has_no_influence_is_read_off_the_gradients():
    check = Check("gradients", lambda draw, reference: (), property="gradients")
    still = replies(gradients(), gradients(**{"gradient of q.weight": torch.zeros(2)}))
    assert influence([Finding(check, tuple(still))], ["x"]).startswith(
        "No gradient flows from your result to `q.weight`"
    )
    moved = replies(gradients(**{"gradient of q.weight": torch.zeros(2)}), gradients())
    assert "should not depend on `q.weight`" in influence([Finding(check, tuple(moved))], ["x"])
    assert influence([Finding(check, tuple(replies(gradients(), gradients())))], ["x"]) is None


def test_gradients_that_rounding_made_say_nothing():
    """A bias of the keys has no gradient: the softmax subtracts what it adds to a row."""
    check = Check("gradients", lambda draw, reference: (), property="gradients")
    noise = [1e-7 * torch.randn(2, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2, 3, 4)]
    right = [{**one, "gradient of k.bias": bias} for one, bias in zip(gradients(), noise[:2], strict=True)]
    wrong = [{**one, "gradient of k.bias": bias.relu()} for one, bias in zip(gradients(), noise[2:], strict=True)]
    wrong = [{**one, "gradient of q.weight": torch.full((2,), 1.5)} for one in wrong]
    assert influence([Finding(check, tuple(replies(right, wrong)))], ["x"]) is None


TRUE, FALSE = torch.ones(3, 3).bool(), torch.zeros(3, 3).bool()
NOTHING = [  # of which a sentence would be true only because there is nothing that it speaks of
    ([FALSE, FALSE], [TRUE, FALSE.fill_diagonal_(False) | torch.eye(3).bool()], "wherever it should be"),
    ([torch.eye(3).bool(), TRUE], [torch.zeros(3, 3).bool()] * 2, "only where it should be"),
    ([one[:1] for one in RIGHT], [one[:1] + 2.0 * n for n, one in enumerate(RIGHT, 1)], "differs from row to row"),
    ([one[:1] for one in RIGHT], [one[:1] * 3.0 * n for n, one in enumerate(RIGHT, 1)], "differs from row to row"),
    ([one[:, :1] for one in RIGHT], [one[:, :1] * 3.0 for one in RIGHT], "times a factor, which differs"),
    ([(one > 0).long() for one in RIGHT], [(one > 0.5).long() for one in NOISE], "off by more than one"),
    ([torch.tensor([900, 7]), torch.tensor([800, 3])], [torch.tensor([901, 9]), torch.tensor([803, 3])], "hundredth"),
    ([torch.zeros(0, 3)] * 2, [torch.zeros(3, 0)] * 2, "right numbers in the wrong shape"),
    ([(None, one) for one in RIGHT], [(None, one) for one in NOISE], "these are right in every case: the first"),
    ([([], one) for one in RIGHT], [([], one) for one in NOISE], "these are right in every case: the first"),
    ([one.fill_(-torch.inf) if n else one for n, one in enumerate(map(torch.clone, RIGHT))],
     [torch.full((3, 4), torch.nan), RIGHT[1].clone()], "finite where they should be infinite"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "words"), NOTHING, ids=[words for *_, words in NOTHING])
def test_nothing_is_said_of_what_is_not_there(right, wrong, words):
    assert words not in (fact(replies(right, wrong), ["x"]) or "")


def test_only_a_number_can_be_lost_to_nan():
    nan = torch.full((3, 4), torch.nan)
    assert holds_nan(RIGHT[0], nan) and not holds_nan(nan, nan) and not holds_nan(RIGHT[0], NOISE[0])
    assert not holds_nan(MASKS[0], ~MASKS[0]) and not holds_nan(MASKS[0].long(), 1 - MASKS[0].long())
    assert of_rows(replies([nan, nan], [nan, nan.clone().fill_diagonal_(0.0)])) is None


def test_every_list_goes_on_after_an_empty_one():
    assert "goes on" not in (of_sequence(replies([[], []], [[1], [2, 3]])) or "")


def test_scores_are_not_the_right_ones_times_one():
    weights = [(one.softmax(-1), one) for one in RIGHT]
    steeper = [((2 * one).softmax(-1), one) for one in RIGHT]
    assert "times 2." in of_scores(replies(weights, steeper))
    assert of_scores(replies(weights, [(one, other + 1) for one, other in weights])) is None
