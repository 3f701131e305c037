"""The model that decoding asks runs in the grader: one call of it is bounded, and so is what it remembers."""

import pytest
import torch

from autograder.checks.decoding import CACHED_ROWS, IDS, ROWS, TableModel


def test_more_rows_or_ids_than_any_search_asks_for_are_refused():
    step = TableModel(1, 5, 0)
    assert step(torch.zeros(ROWS, 2, dtype=torch.int64)).shape == (ROWS, 5)
    for shape in [(ROWS + 1, 1), (400_000, 1), (1, IDS + 1)]:
        with pytest.raises(ValueError, match=f"at most {ROWS} rows and {IDS} ids"):
            step(torch.zeros(shape, dtype=torch.int64))


def test_what_was_forgotten_is_the_same_again():
    step = TableModel(1, 5, 0)
    first = step(torch.tensor([[7]]))
    for start in range(0, 2 * CACHED_ROWS, ROWS):
        step(torch.arange(start, start + ROWS).unsqueeze(1) + 8)
    assert len(step.rows) <= CACHED_ROWS and (7,) not in step.rows
    assert torch.equal(step(torch.tensor([[7]])), first)
