"""The by-hand searches against brute force, over random tables of logits."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tfkit.decode import beam_search, greedy_decode

V, END, PAD, START = 4, 2, 0, 1


def table_step(seed: int):
    """Logits that depend on the whole prefix, drawn anew for each prefix but always the same for one prefix."""

    def step(prefix):
        rows = []
        for ids in prefix.tolist():
            generator = torch.Generator().manual_seed(hash((seed, *ids)) % 2**31)
            rows.append(torch.randn(V, generator=generator) * 2)
        return torch.stack(rows)

    return step


def log_probability(step, ids):
    return sum(
        torch.log_softmax(step(torch.tensor([ids[:t]])).double(), -1)[0, ids[t]].item() for t in range(1, len(ids))
    )


def every_hypothesis(length):
    """All sequences of at most `length` new tokens: those that end, and those cut at the limit."""
    for tokens in itertools.product(range(V), repeat=length):
        cut = tokens.index(END) + 1 if END in tokens else length
        yield (START, *tokens[:cut])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.integers(1, 3), penalty=st.sampled_from([0.0, 0.6, 1.0, 2.0]))
def test_a_beam_as_wide_as_the_tree_is_exact(seed, length, penalty):
    step = table_step(seed)
    scores = {ids: log_probability(step, ids) / (len(ids) - 1) ** penalty for ids in every_hypothesis(length)}
    expected = sorted(scores.values(), reverse=True)
    found = beam_search(step, START, END, V**length, length, penalty)
    assert [score for _, score in found] == pytest.approx(expected, rel=1e-9)
    assert all(scores[tuple(ids)] == pytest.approx(score, rel=1e-9) for ids, score in found)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.integers(1, 6))
def test_a_beam_of_one_is_greedy(seed, length):
    step = table_step(seed)
    ids = greedy_decode(step, torch.tensor([START]), END, length, PAD)[0].tolist()
    assert [found for found, _ in beam_search(step, START, END, 1, length)] == [ids]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), batch=st.integers(1, 4))
def test_greedy_rows_do_not_depend_on_their_neighbours(seed, batch):
    step = table_step(seed)
    starts = torch.tensor([3, 1, 2, 3])[:batch]
    together = greedy_decode(step, starts, END, 6, PAD)
    for row, start in zip(together, starts, strict=True):
        alone = greedy_decode(step, start[None], END, 6, PAD)[0]
        assert row[: len(alone)].tolist() == alone.tolist()
        assert (row[len(alone) :] == PAD).all()


def test_a_start_that_equals_the_end_finishes_nothing():
    step = lambda prefix: torch.nn.functional.one_hot(prefix[:, -1] * 0 + 3, V).float()
    assert greedy_decode(step, torch.tensor([END]), END, 3, PAD).tolist() == [[END, 3, 3, 3]]
    assert beam_search(step, END, END, 1, 3)[0][0] == [END, 3, 3, 3]


def test_an_ended_hypothesis_takes_a_place_for_that_step_only():
    """The end is likeliest at once: a beam of two keeps it aside and goes on with one live hypothesis."""
    step = lambda prefix: torch.tensor([[0.0, 0.0, 3.0, 2.0]]).expand(len(prefix), V)
    found = beam_search(step, START, END, 2, 3, length_penalty=0.0)
    assert [ids for ids, _ in found] == [[START, END], [START, 3, END]]


def test_nothing_to_generate_leaves_the_start():
    step = table_step(0)
    assert greedy_decode(step, torch.tensor([START]), END, 0, PAD).tolist() == [[START]]
    assert beam_search(step, START, END, 3, 0) == [([START], 0.0)]
