"""On a machine where everything takes longer the same line is said: what is tried is counted, and not timed."""

from __future__ import annotations

import itertools
import time

import pytest

from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers
from autograder.corpus.judge import ask_reference
from autograder.exercises import registry
from autograder.localize import decision, verify
from autograder.localize.fault import localize_fault

LOOK_S = 0.5  # what passes on the slow machine between two looks at a clock
EXERCISE = registry.find("attention.scaled_dot_product")
SOURCE = """
import math
import torch
def scaled_dot_product_attention(q, k, v, mask=None):
    kt = k.transpose(-1, -2)
    scores = q @ kt
    scores = scores / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    largest = scores.amax(-1, keepdim=True)
    powers = (scores - largest.clamp(min=-1e9)).exp()
    weights = powers / powers.sum(-2, keepdim=True)
    weights = weights.nan_to_num()
    return weights @ v, weights
"""


def said(source=SOURCE):
    subject = LocalSubject.from_source(source)
    asked = [(check, pairs) for check, pairs in ask_reference(EXERCISE, 3) if check.core]
    return localize_fault(EXERCISE, collect_answers(asked, subject), subject, [("own", source)], own={"own"})


def make_slow(monkeypatch):
    for name in ("thread_time", "process_time", "monotonic", "perf_counter"):
        looks = itertools.count()
        monkeypatch.setattr(time, name, lambda looks=looks: next(looks) * LOOK_S)


def test_the_same_line_is_said_where_everything_takes_longer(monkeypatch):
    quick = said()
    make_slow(monkeypatch)
    assert (
        said() == quick
        and quick["line"] == SOURCE.splitlines().index("    weights = powers / powers.sum(-2, keepdim=True)") + 1
    )


def test_no_line_is_said_once_as_much_as_may_be_was_tried(monkeypatch):
    assert said()["line"] is not None
    monkeypatch.setattr(verify, "MAX_EVENTS", 1)
    monkeypatch.setattr(decision, "MAX_EVENTS", 1)
    assert said()["line"] is None


@pytest.mark.parametrize("rounds", [2_000, 400_000])
def test_code_that_reaches_very_many_values_is_stopped_by_their_number(rounds):
    """In this process no clock stops it."""
    found = said(SOURCE.replace("    kt =", f"    n = 0\n    for _ in range({rounds}):\n        n = n + 1\n    kt ="))
    assert (found is None) == (rounds > 2_000)
