"""A question is about what differs, and tells no entry of a right value."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autograder.checks.compare import compare
from autograder.checks.probe import Answer, Case, Check, Finding, Probe
from autograder.localize.question import ask, question_of_result

EXAMPLE = {"inputs": {"q": [[0.5, 1.0], [2.0, 3.0]], "length": 2, "mask": None}}
SHARES = np.array([[0.5, 0.5], [0.25, 0.75]])
MASK = np.array([[1.0, 0.0], [1.0, 1.0]])


@pytest.mark.parametrize("yours, right, words, answers", [
    (np.zeros((3, 2)), np.zeros((2, 3)), "which shape must `x` have?", ([3, 2], [2, 3])),
    (np.array([[1.0, 1.0], [1.0, 1.0]]), MASK, "row 0 of `x` must be 1?", ([2], [1])),
    (np.array([[True, True], [True, True]]), MASK.astype(bool), "row 0 of `x` must be True?", ([2], [1])),
    (np.array([[0.5, 0.5], [0.25, 0.5]]), SHARES, "2 entries of row 1 of `x` add up to?", ([0.75], [1])),
    (np.array([[2.0, 3.0]]), np.array([[2.0, 0.0]]), "must be 0?", ([0], [1])),
    (np.array([[2.0, -1e4]]), np.array([[2.0, -np.inf]]), "must be minus infinity?", ([0], [1])),
])  # fmt: skip
def test_it_asks_for_what_differs(yours, right, words, answers):
    asked = ask("`x`", yours, right, EXAMPLE)
    assert words in asked["text"] and (asked["yours"], asked["right"]) == answers
    assert asked["text"].startswith("For `q` with shape 2 × 2, `length = 2`, `mask = None`: ")


def test_it_asks_nothing_where_the_answers_agree_or_the_inputs_are_too_much():
    assert ask("`x`", SHARES[:, ::-1], SHARES, EXAMPLE) is None
    assert ask("`x`", np.zeros((3, 2)), np.zeros((2, 3)), {"inputs": {"module": "a module of four layers"}}) is None
    assert ask("`x`", np.zeros((3, 2)), np.zeros((2, 3)), None) is None
    assert ask("`x`", np.zeros(()), np.zeros(2), EXAMPLE) is None
    assert ask("`x`", np.zeros(2), np.zeros(()), EXAMPLE) is None
    assert ask("`x`", np.array([[False]]), np.array([[True]]), EXAMPLE) is None  # the only entry would be told


def finding(actual):
    right = torch.ones(2, 3)
    answer = Answer(Probe(lambda _: None, Case("f", ())), right, actual, compare(right, actual))
    return [Finding(Check("right values", lambda *_: [], core=True), (answer,))]


def test_a_result_of_any_kind_costs_no_verdict():
    assert "which shape must the result have?" in question_of_result(finding(torch.ones(3, 2)), EXAMPLE)["text"]
    assert question_of_result(finding(torch.ones(3, 2).to_sparse()), EXAMPLE) is None
    assert question_of_result(finding("text"), EXAMPLE) is None
    assert question_of_result([], EXAMPLE) is None
