"""Predict the next token."""

from __future__ import annotations

import torch

from ._base import Batch, Draws, Objective, real
from .label_smoothing import seq2seq_loss


def causal_lm_loss(logits, ids, pad_id):
    """Each position is scored on the token that follows it.

    logits [B,L,V], ids [B,L] -> scalar: the mean over predicted tokens that are not pad_id; over none it is 0
    """
    targets = ids[:, 1:].masked_fill(ids[:, 1:] == pad_id, -100)
    return seq2seq_loss(logits[:, :-1], targets)


class CausalLM(Objective):
    """Nothing is drawn and nothing changed: each token is the label of the one before (models shift by themselves)."""

    def draw(self, batch: Batch, generator: torch.Generator | None = None) -> Draws:
        return {}

    def corrupt(self, batch: Batch, draws: Draws) -> Batch:
        return {**batch, "labels": batch["input_ids"].masked_fill(~real(batch), -100)}
