"""Token deletion (Lewis et al. 2020, arXiv:1910.13461, 2.2): words are missing, and the model writes the whole text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import torch

from tfkit.objectives import Batch, Draws, Objective, drop_and_pad, non_padding, special, uniform


@dataclass(frozen=True)
class TokenDeletion(Objective):
    """`rate` of the tokens are dropped without a trace. Gives input_ids, attention_mask [B,S] and labels [B,L]."""

    pad_id: int
    rate: float = 0.15
    HEAD = "seq2seq_lm"
    SYMBOLS = ("pad",)

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, length: int) -> Self:
        return cls(tokenizer.pad_id)

    def draw(self, batch: Batch, generator: torch.Generator | None = None) -> Draws:
        """drop_u uniform [B,L]"""
        return {"drop_u": uniform(batch["input_ids"], generator)}

    def corrupt(self, batch: Batch, draws: Draws) -> Batch:
        ids, mask = batch["input_ids"], non_padding(batch)
        keep = mask & (special(batch) | (draws["drop_u"] >= self.rate))
        keep[:, 0] |= ~keep.any(1)  # a row is never empty
        inputs, kept = drop_and_pad(ids, keep, self.pad_id)
        return {"input_ids": inputs, "attention_mask": kept, "labels": ids.masked_fill(~mask, -100)}


OBJECTIVE = TokenDeletion
