"""Facts about wrong answers: each is said of answers of which it holds, and of none of which it does not."""

from __future__ import annotations

from dataclasses import replace

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


def replies_to(expected, actual):
    """As `replies`, of any number of cases: the argument is the same for all."""
    pairs = zip(expected, actual, strict=True)
    return [replace(replies(RIGHT, RIGHT)[0], expected=one, actual=other) for one, other in pairs]


def names(reply):
    return ["x"]


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
     "has the right norm"),
    (lambda right, given: right**3, "right order by size"),
    (lambda right, given: torch.where(given > 0, right, 0.0), "entries of your result are zero"),
    (lambda right, given: right + given.abs(), "it is too large"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "words"), CASES, ids=[words for _, words in CASES])
def test_a_fact_is_said(wrong, words):
    made = [wrong(right, given) for right, given in zip(RIGHT, GIVEN, strict=True)]
    assert words in (fact(replies(RIGHT, made), names) or "nothing")


def test_of_what_has_nothing_in_common_nothing_is_said():
    assert fact(replies(RIGHT, NOISE), names) is None
    assert fact(replies(RIGHT, [RIGHT[0] + 1, NOISE[1]]), names) is None  # true of one of the two
    assert fact(replies(RIGHT, NOISE)[:1], names) is None  # of one answer much is true by chance


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
    assert words in (fact(replies(right, wrong), names) or "nothing")


def test_lists_of_tensors_and_texts_are_compared_as_sequences():
    lists = [[one, one + 1, one + 2] for one in RIGHT]
    assert "lacks the last entries" in of_sequence(replies(lists, [one[:2] for one in lists]))
    assert "in reverse order" in of_sequence(replies(lists, [one[::-1] for one in lists]))
    gaps = [one[:1] + one[2:] for one in lists]
    assert (
        of_sequence(replies(lists, gaps)) == "Your list is wrong: all of its entries are right, but some are missing."
    )
    swapped = of_sequence(replies(lists, [one[::-1] for one in gaps]))
    assert "some are missing, and their order is wrong" in swapped
    assert of_sequence(replies(["a cat", "a dog"], ["a", "a"])) == "Your text is wrong: it lacks the last entries."


def test_of_several_lists_it_is_told_which_one_is_wrong():
    first, second = [1, 2, 3], [4, 5, 6]
    one = [(first, second[:2]), (first, second[:1])]
    told = of_sequence(replies([(first, second)] * 2, one))
    assert told == "In the second of your results: Your list is wrong: it lacks the last entries."
    other = [(first, second[:2]), (first[:2], second)]
    assert of_sequence(replies([(first, second)] * 2, other)) is None


def gradients(**more):
    return [{"gradient of input": [torch.ones(3, 4)], "gradient of q.weight": torch.ones(2), **more} for _ in GIVEN]


def test_what_has_no_influence_is_read_off_the_gradients():
    check = Check("gradients", lambda draw, reference: (), property="gradients")
    still = replies(gradients(), gradients(**{"gradient of q.weight": torch.zeros(2)}))
    assert influence([Finding(check, tuple(still))], names).startswith(
        "No gradient flows from your result to `q.weight`"
    )
    moved = replies(gradients(**{"gradient of q.weight": torch.zeros(2)}), gradients())
    assert "should not depend on `q.weight`" in influence([Finding(check, tuple(moved))], names)
    assert influence([Finding(check, tuple(replies(gradients(), gradients())))], names) is None


def test_an_input_is_called_as_its_own_function_calls_it():
    check = Check("gradients", lambda draw, reference: (), property="gradients")
    still = replies(gradients(), gradients(**{"gradient of input": [torch.zeros(3, 4)]}))
    there = [replace(one, probe=replace(one.probe, case=replace(one.probe.case, symbol="g"))) for one in still]
    names_of = lambda reply: {"f": ["x"], "g": ["y"]}[reply.probe.case.symbol]
    assert "to `x`, although" in influence([Finding(check, tuple(still))], names_of)
    assert "to `y`, although" in influence([Finding(check, tuple(there))], names_of)
    assert influence([Finding(check, (still[0], there[0]))], names_of) is None
    given = [one.probe.case.args[0] for one in still]
    mixed = replies(RIGHT, [right + other for right, other in zip(RIGHT, given, strict=True)])
    elsewhere = replace(mixed[1], probe=replace(mixed[1].probe, case=there[1].probe.case))
    assert "plus `x`" in fact(mixed, names_of) and "`x`" not in (fact([mixed[0], elsewhere], names_of) or "")


def test_gradients_that_rounding_made_say_nothing():
    """A bias of the keys has no gradient: the softmax subtracts what it adds to a row."""
    check = Check("gradients", lambda draw, reference: (), property="gradients")
    noise = [1e-7 * torch.randn(2, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2, 3, 4)]
    right = [{**one, "gradient of k.bias": bias} for one, bias in zip(gradients(), noise[:2], strict=True)]
    wrong = [{**one, "gradient of k.bias": bias.relu()} for one, bias in zip(gradients(), noise[2:], strict=True)]
    wrong = [{**one, "gradient of q.weight": torch.full((2,), 1.5)} for one in wrong]
    assert influence([Finding(check, tuple(replies(right, wrong)))], names) is None


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
    assert words not in (fact(replies(right, wrong), names) or "")


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


def test_the_right_numbers_are_in_wrong_places_only_where_axes_are_in_another_order():
    heads = [torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2)]
    merged = [one.transpose(1, 2).reshape(2, 4, 15) for one in heads]
    assert "check the axes" in of_rows(replies(merged, [one.reshape(2, 4, 15) for one in heads]))
    assert of_rows(replies(RIGHT, [one.flatten().sort().values.view(3, 4) for one in RIGHT])) is None
    assert of_rows(replies(MASKS, [mask.mT.reshape(3, 4) for mask in MASKS])) is None
    labels = [mask.long() + mask.long()[:, :1] for mask in MASKS]  # three distinct numbers
    assert of_rows(replies(labels, [one.mT.reshape(3, 4) for one in labels])) is None


def test_a_list_whose_length_values_decide_has_no_shape():
    assert fact(replies([[1, 2], [3, 4]], [[1, 5, 2], [3]]), names) is None


def test_of_a_list_of_the_right_length_none_is_missing():
    history = [[(1, 0.5), (2, 0.25)], [(1, 0.75), (2, 0.5)]]
    wrong = [[(1, 0.5), (2, 0.125)], [(1, 0.25), (2, 0.5)]]
    assert "the right number of entries, but some of them are wrong" in of_sequence(replies(history, wrong))


def test_a_part_is_right_in_every_case_only_if_no_other_check_refutes_it():
    core = replies([(one, one) for one in RIGHT], list(zip(NOISE, RIGHT, strict=True)))
    others = replies([(one, one) for one in RIGHT], list(zip(NOISE, NOISE, strict=True)))
    assert "the second. These are not" in fact(core, names)
    assert fact(core, names, others) is None


def test_where_one_result_is_infinite_it_is_not_said_to_be_too_small():
    core = replies(RIGHT, [one - given.abs() for one, given in zip(RIGHT, GIVEN, strict=True)])
    infinite = replies(RIGHT, [torch.full_like(one, torch.inf) for one in RIGHT])
    assert "it is too small" in fact(core, names)
    assert fact(core, names, infinite) is None


def test_a_dependence_is_told_only_if_every_case_shows_it():
    lacking = torch.ones(3, 4)
    lacking[0] = 0
    shown = gradients(**{"gradient of input": [lacking]})
    check = Check("gradients", lambda draw, reference: [], property="gradients")
    every = replies(gradients(), shown)
    assert "Some entries of `x` get no gradient" in influence([Finding(check, every)], names)
    other = replies(gradients(), gradients(**{"gradient of input": [torch.full((3, 4), 2.0)]}))
    assert influence([Finding(check, [*every, *other])], names) is None


@pytest.mark.parametrize("wrong", [
    lambda right: right * 2,
    lambda right: right + 2,
    lambda right: right.abs(),
    lambda right: (right > 0).to(right.dtype),
], ids=["twice", "plus two", "absolute", "signs"])  # fmt: skip
def test_of_rows_and_columns_nothing_is_said_that_is_so_of_none_of_them(wrong):
    """One factor for all rows does not differ from row to row, and a row that is right is not in a wrong direction."""
    for rights in (RIGHT, [(10 * one).round() for one in RIGHT], [one.softmax(-1) for one in RIGHT]):
        told = fact(replies(rights, [wrong(one) for one in rights]), names) or ""
        assert not any(words in told for words in ("differs from row to row", "differs from column", "but the wrong"))
        assert "the same for all entries" not in told or float((wrong(rights[0]) - rights[0]).std()) < 1e-4


ROWS = torch.tensor([[2.0], [3.0], [0.5]])
ROW_BY_ROW = [
    (lambda right: right * ROWS, lambda right: right * 3, "which differs from row to row"),
    (lambda right: right * torch.tensor([2.0, 3.0, 0.5, 1.0]), lambda right: right * 3, "from column to column"),
    (lambda right: right + ROWS, lambda right: right + 3, "which differs from row to row"),
]  # fmt: skip


@pytest.mark.parametrize(("differs", "same", "words"), ROW_BY_ROW, ids=["factor", "column", "constant"])
def test_what_differs_from_row_to_row_does_so_in_every_case_of_several_rows(differs, same, words):
    """A case of one row has nothing to say of it; one of several rows that are off alike shows that it is untrue."""
    axis = 0 if "row" in words else 1
    made = [differs(one) for one in RIGHT]
    alone, alike = RIGHT[0].narrow(axis, 0, 1), RIGHT[1] - 0.5
    told = [fact(replies_to([*RIGHT, right], [*made, same(right)]), names) or "" for right in (alone, alike)]
    assert words in told[0] and words not in told[1]
