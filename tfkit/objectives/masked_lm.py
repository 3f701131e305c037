"""Masked language modelling (Devlin et al. 2019, arXiv:1810.04805, 3.1): predict masked tokens from both sides.

With new draws each time this is RoBERTa's dynamic masking (Liu et al. 2019, arXiv:1907.11692, 4.1); with stored draws,
or a generator seeded alike at every epoch, it is BERT's static masking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from ._base import Batch, Draws, Objective, special, uniform
from .cross_entropy import cross_entropy


def mask_tokens(
    ids: Tensor, special: Tensor, mask_id: int, select_u: Tensor, kind_u: Tensor, random_ids: Tensor, rate: float = 0.15
) -> tuple[Tensor, Tensor]:
    """Of the selected tokens 80% become the mask, 10% a random word and 10% stay, as there are no masks at test time.

    ids, special (bool: never selected), select_u, kind_u (uniform draws), random_ids [B,S] -> (inputs, labels) [B,S],
    labels -100 at all other positions
    """
    chosen = (select_u < rate) & ~special
    masked = chosen & (kind_u < 0.8)
    swapped = chosen & (kind_u >= 0.8) & (kind_u < 0.9)
    inputs = torch.where(swapped, random_ids, ids.masked_fill(masked, mask_id))
    return inputs, ids.masked_fill(~chosen, -100)


@dataclass(frozen=True)
class MaskedLM(Objective):
    """`rate` of the tokens are predicted; random words come from the whole vocabulary, as in BERT's code."""

    mask_id: int
    vocab_size: int
    rate: float = 0.15
    SYMBOLS = ("mask",)

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, length: int) -> Self:
        """Uses the tokenizer's mask, and random words from its whole vocabulary."""
        return cls(tokenizer.mask_id, len(tokenizer))

    def draw(self, batch: Batch, generator: torch.Generator | None = None) -> Draws:
        """select_u, kind_u uniform [B,L], random_ids int64 [B,L] of the whole vocabulary"""
        ids = batch["input_ids"]
        random_ids = torch.randint(self.vocab_size, ids.shape, generator=generator, device=ids.device)
        return {"select_u": uniform(ids, generator), "kind_u": uniform(ids, generator), "random_ids": random_ids}

    def corrupt(self, batch: Batch, draws: Draws) -> Batch:
        """The batch with masked input_ids [B,L], and labels [B,L], -100 where nothing is predicted."""
        inputs, labels = mask_tokens(batch["input_ids"], special(batch), self.mask_id, **draws, rate=self.rate)
        return {**batch, "input_ids": inputs, "labels": labels}

    @staticmethod
    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        """logits [B,L,V], labels [B,L] -> scalar: the mean over the labelled positions; 0 if there are none"""
        return cross_entropy(logits, labels)


OBJECTIVE = MaskedLM
