"""What is said of a value beside the right one is true, and nothing is said where much would be true by chance."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from autograder.localize.align import FaultyVersion
from autograder.localize.instrument import Node
from autograder.localize.location import FaultLocation
from autograder.localize.recorder import TENSOR
from autograder.localize.trace import Value
from autograder.localize.words import describe_relation, sentence

BOOL, INT, FLOAT = 0, 5, 8
LOWER = np.tril(np.ones((4, 4)))


def value(data, dtype):
    return Value(TENSOR, dtype, False, 0, -1, np.asarray(data, dtype=np.float64))


def relation(actual, expected, dtype=BOOL):
    return describe_relation(value(actual, dtype), value(expected, dtype))


@pytest.mark.parametrize("dtype", [BOOL, INT, FLOAT])
def test_a_triangle_is_never_a_shifted_one(dtype):
    for actual, expected, words in [
        (np.triu(np.ones((4, 4))), np.triu(np.ones((4, 4)), 1), "the diagonal and what is above it"),
        (np.tril(np.ones((4, 4)), -1), LOWER, "what is below the diagonal"),
        (np.stack([LOWER] * 2), np.stack([np.triu(LOWER, -1)] * 2), "the diagonal and what is below it"),
    ]:
        text = relation(actual, expected, dtype)
        assert words in text and "shifted" not in text, text


def test_few_distinct_entries_are_not_shifted():
    stripes = np.array([[1, 0, 1, 0], [1, 0, 1, 0]])
    for dtype in (BOOL, INT):
        assert "shifted" not in relation(stripes, 1 - stripes[:, ::-1] * stripes, dtype)
    same = np.repeat(np.arange(5.0)[None], 4, 0)  # rows that are alike
    assert "shifted" not in relation(same, np.vstack([same[:3], same[:1] + 9]), FLOAT)


def test_nan_is_told_before_all_that_may_have_led_to_it():
    """Right weights of an empty row are zeros, which divided by their sum are NaN, too."""
    right = np.array([[0.25, 0.75], [0.0, 0.0]])
    actual = np.array([[0.25, 0.75], [np.nan, np.nan]])
    assert relation(actual, right, FLOAT) == "is NaN where it should be a number; 1 of 2 rows differ"
    assert "NaN" not in relation(right * 2, right, FLOAT)


def test_a_shift_of_numbers_is_one():
    numbers = np.random.default_rng(0).standard_normal((5, 6))
    assert relation(numbers[:-1], numbers[1:], FLOAT).startswith("is shifted by one along axis 0")


def place(actual, expected, dtype, larger=None, **node):
    """The location of a value that one node made."""
    made = Node("own", 1, node.pop("operation", "Mult"), **node)
    users = [Node("own", 1, "Subscript", text=f"{made.text}[-1]", single_operands=[0])]
    source = "def run(f, x): return f(x)"
    trace = SimpleNamespace(values=[value(actual, dtype)], error=None, events=[SimpleNamespace(node=0, version=0)],
                            producer=lambda version: made, node=lambda event: made,
                            table=SimpleNamespace(source=source, nodes=[made, *users]))  # fmt: skip
    return FaultLocation("own", 1, trace, faulty_version=FaultyVersion(0, value(expected, dtype)), larger=larger)


def test_a_relation_to_the_right_value_must_hold_on_the_larger_input_as_well():
    numbers = np.random.default_rng(0).standard_normal((5, 6))
    small = (2 * numbers[:2, :3], numbers[:2, :3], FLOAT)
    assert "is 2 times what it should be" in sentence(place(*small, place(2 * numbers, numbers, FLOAT)))
    other = numbers.copy()
    other[0] += 1
    assert sentence(place(*small, place(other, numbers, FLOAT), name="x")) == "`x` is not what it should be"
    assert "each row differs" in sentence(place(*small, place(other * 3, numbers, FLOAT), name="x"))


def test_one_number_throughout_has_no_relation_to_the_right_value():
    right = np.random.default_rng(2).standard_normal((3, 4))
    for actual, expected in [(0, -abs(right)), (1, abs(right) * np.inf), (2, right * 0 + 1), (2, right * 0)]:
        told = sentence(place(right * 0 + actual, expected, FLOAT, name="x"))
        assert told.startswith("`x` is not what it should be")
    assert "is NaN where it should be a number" in sentence(place(right * np.nan, right, FLOAT))
    assert "after a ReLU" in sentence(place(np.maximum(right, 0), right, FLOAT))


def test_an_attribute_is_quoted_and_only_a_call_has_a_result():
    shape = {"operation": "shape", "text": "v.shape"}
    assert sentence(place([2.0, 3.0], [2.0, 5.0], INT, **shape)).startswith("`v.shape[-1]` is")
    assert sentence(place([[1.0]], [[2.0]], FLOAT, operation="mT", text="v.mT")).startswith("`v.mT` is")
    called = sentence(place([[1.0]], [[2.0]], FLOAT, operation="exp", is_call=True))
    assert called.startswith("the result of `exp` here is")


def test_only_truths_of_both_kinds_are_inverted():
    mixed = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert "inverted" in relation(mixed, 1 - mixed)
    assert "inverted" not in relation(mixed[:, :1] * 0, mixed[:, :1] * 0 + 1)


def test_a_single_row_is_not_counted():
    one, other = np.arange(4.0)[None], np.arange(4.0)[None, ::-1]
    assert "row" not in relation(one, other, INT)
    assert relation(np.tile(one, (2, 1)), np.tile(other, (2, 1)), INT).endswith("; each row differs")


def test_rows_of_truths_that_others_may_overrule_are_not_counted():
    mask, other = LOWER, np.fliplr(LOWER)
    assert "3 of 4 rows differ" in sentence(place(other, mask, BOOL, returned=True))
    assert "row" not in sentence(place(other, mask, BOOL, name="mask"))


def test_what_an_argument_makes_is_not_told_as_a_step_that_is_not_in_the_code():
    logits = np.random.default_rng(1).standard_normal((3, 4))
    right = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    twice = np.exp(right) / np.exp(right).sum(-1, keepdims=True)
    assert "softmax" in sentence(place(twice, right, FLOAT, operation="softmax", is_call=True))
    assert "softmax" not in sentence(place(twice, right, FLOAT, operation="f", is_call=True))
