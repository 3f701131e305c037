"""Predict the next token."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from ._base import Batch, Draws, Objective, non_padding


def causal_lm_loss(logits: Tensor, ids: Tensor, pad_id: int) -> Tensor:
    """Each position is scored on the token that follows it.

    logits [B,L,V], ids [B,L] -> scalar: the mean over predicted tokens that are not pad_id; over none it is 0
    """
    predicted, wanted = logits[:, :-1], ids[:, 1:]  # the label of the last position is unknown
    losses = F.cross_entropy(predicted.transpose(1, 2), wanted, ignore_index=pad_id, reduction="none")  # [B,L-1]
    return losses.sum() / (wanted != pad_id).sum().clamp(min=1)


class CausalLM(Objective):
    """Nothing is drawn and nothing changed: each token is the label of the previous one (models shift internally). The
    first token of a row has no context, so it is not a target."""

    HEAD = "causal_lm"

    def draw(self, batch: Batch, generator: torch.Generator | None = None) -> Draws:
        """{}: nothing is random."""
        return {}

    def corrupt(self, batch: Batch, draws: Draws) -> Batch:
        """labels [B,L]: the ids, -100 for padding and for the first of each row"""
        labels = batch["input_ids"].masked_fill(~non_padding(batch), -100)
        labels[:, :1] = -100
        return {**batch, "labels": labels}


OBJECTIVE = CausalLM
