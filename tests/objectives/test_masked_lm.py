"""Masked language modelling: the shares that the paper gives, what is never touched, dynamic against static."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfkit.objectives.masked_lm import MaskedLM, mask_tokens

MASK, VOCAB = 4, 1000


def batch(rows=64, length=128, seed=0):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(5, VOCAB, (rows, length), generator=generator)
    lengths = torch.randint(2, length + 1, (rows, 1), generator=generator)
    mask = torch.arange(length) < lengths
    special = torch.zeros_like(mask)
    special[:, 0] = True
    return {"input_ids": ids.where(mask, 0), "attention_mask": mask.long(), "special_tokens_mask": special.long()}


def bounds(n, p, sigmas=5):
    """5 sigmas of a binomial: wrong once in two million draws, and the seed is fixed."""
    spread = sigmas * math.sqrt(n * p * (1 - p))
    return n * p - spread, n * p + spread


def between(count, n, p):
    low, high = bounds(n, p)
    return low <= count <= high


def test_the_shares():
    given_, objective = batch(400), MaskedLM(MASK, VOCAB)
    out = objective(given_, torch.Generator().manual_seed(1))
    free = given_["attention_mask"].bool() & ~given_["special_tokens_mask"].bool()
    chosen = out["labels"] != -100
    n = int(chosen.sum())
    assert between(n, int(free.sum()), 0.15)
    masked = out["input_ids"][chosen] == MASK
    same = out["input_ids"][chosen] == given_["input_ids"][chosen]
    assert between(int(masked.sum()), n, 0.8)
    assert between(int(same.sum()), n, 0.1 + 0.1 / VOCAB)
    assert between(int((~masked & ~same).sum()), n, 0.1 - 0.1 / VOCAB)


@given(st.integers(0, 2**31), st.floats(0, 1))
def test_only_chosen_tokens_change_and_labels_are_what_stood_there(seed, rate):
    given_ = batch(4, 12, seed)
    out = MaskedLM(MASK, VOCAB, rate)(given_, torch.Generator().manual_seed(seed))
    chosen = out["labels"] != -100
    assert torch.equal(out["input_ids"][~chosen], given_["input_ids"][~chosen])
    assert torch.equal(out["labels"][chosen], given_["input_ids"][chosen])
    assert not (chosen & (given_["special_tokens_mask"].bool() | (given_["attention_mask"] == 0))).any()


def test_dynamic_masks_differ_between_epochs_and_static_ones_do_not():
    given_, objective = batch(), MaskedLM(MASK, VOCAB)
    generator = torch.Generator().manual_seed(0)
    once, again = objective(given_, generator), objective(given_, generator)
    assert not torch.equal(once["labels"], again["labels"])
    draws = objective.draw(given_, generator)
    once, again = objective.corrupt(given_, draws), objective.corrupt(given_, draws)
    assert torch.equal(once["labels"], again["labels"]) and torch.equal(once["input_ids"], again["input_ids"])


def test_the_boundaries_of_the_draws():
    ids = torch.tensor([[10, 11, 12, 13, 14]])
    special = torch.tensor([[False, False, False, False, True]])
    select = torch.tensor([[0.0, 0.1, 0.1, 0.3, 0.0]])
    kind = torch.tensor([[0.0, 0.85, 0.95, 0.0, 0.0]])
    inputs, labels = mask_tokens(ids, special, MASK, select, kind, ids + 100, rate=0.2)
    assert inputs.tolist() == [[MASK, 111, 12, 13, 14]]
    assert labels.tolist() == [[10, 11, 12, -100, -100]]


def test_a_token_after_padding_is_an_error():
    ids = torch.ones(1, 3, dtype=torch.long)
    with pytest.raises(ValueError, match="a token after padding"):
        MaskedLM(MASK, VOCAB)({"input_ids": ids, "attention_mask": torch.tensor([[1, 0, 1]])})


def test_the_loss_is_the_mean_over_the_chosen():
    logits, labels = torch.randn(2, 3, 7), torch.tensor([[-100, 2, -100], [5, -100, -100]])
    log_p = logits.log_softmax(-1)
    torch.testing.assert_close(MaskedLM.loss(logits, labels), -(log_p[0, 1, 2] + log_p[1, 0, 5]) / 2)
    assert MaskedLM.loss(logits, torch.full_like(labels, -100)) == 0
