"""What is said of a value beside the right one is true, and nothing is said where much would be true by chance."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.localize.recorder import TENSOR
from autograder.localize.trace import Value
from autograder.localize.words import describe_relation

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
