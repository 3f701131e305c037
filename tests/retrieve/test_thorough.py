"""Thorough decoding: what is proposed, who judges, and what is chosen."""

import math

import pytest
import torch

from tfkit.retrieve import thorough_decode

START, END = 4, 3
TABLE = [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.1, 0.4, 0.5]]


def letter_reader(row):
    """Writes one letter by these probabilities, then the end."""
    letter, end = torch.tensor([*row, 0.0, 0.0]).log(), torch.tensor([0.0, 0.0, 0.0, 1.0, 0.0]).log()
    return lambda ids: (letter if ids.size(1) == 1 else end).expand(len(ids), 5)


def test_all_documents_judge_every_proposal():
    readers, weights = [letter_reader(row) for row in TABLE], torch.tensor([0.4, 0.3, 0.3])
    ids, log_prob = thorough_decode(readers, weights.log(), START, END, 2)
    assert ids == [START, 1, END]  # the likeliest document alone would have said 0
    assert math.exp(log_prob) == pytest.approx(0.4 * 0.3 + 0.3 * 0.6 + 0.3 * 0.4)
    assert thorough_decode(readers[:1], weights[:1].log(), START, END, 2)[0] == [START, 0, END]


def test_what_no_document_proposes_is_not_found():
    readers = [letter_reader(row) for row in ([0.5, 0.4, 0.1], [0.1, 0.4, 0.5])]
    ids, log_prob = thorough_decode(readers, torch.zeros(2), START, END, 2)
    assert ids[1] in (0, 2) and math.exp(log_prob) == pytest.approx(0.3)  # letter 1 has 0.4


def test_it_stops_at_the_limit():
    ids, log_prob = thorough_decode([letter_reader(row) for row in TABLE], torch.zeros(3), START, END, 1)
    assert len(ids) == 2 and log_prob < 0
