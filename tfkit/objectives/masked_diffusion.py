"""Masked diffusion (Sahoo et al. 2024, arXiv:2406.07524; Shi et al. 2024, arXiv:2406.04329; as LLaDA: Nie et al. 2025,
arXiv:2502.09992): of each text another share is masked, from almost nothing to everything, and all of it is predicted.

BERT masks 15 % and so never learns to begin from nothing. Here a text is seen at a random time of a process in which
each token is masked at a moment of its own, uniform between 0 and 1; going back step by step writes a text
(`decode.unmasking`). Divided by the share, the loss is an upper bound of the negative log-likelihood of a token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from ._base import Batch, Draws, Objective, special, uniform
from .chunked_cross_entropy import DeferredLogits
from .cross_entropy import check_labels

SMALLEST = 1e-3  # the smallest share, as in LLaDA: its inverse bounds the weight of a token


def diffuse(ids: Tensor, special: Tensor, mask_id: int, time: Tensor, mask_u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Masks each token with a probability that its row has.

    ids int64 [B,L], special bool [B,L]: never masked, time [B]: the probability, above 0, mask_u uniform [B,L] ->
    (inputs [B,L], labels [B,L], -100 where nothing is masked, weights float32 [B,L]: 1 / time where it is, divided by
    the number of tokens of the batch that may be masked, so that the weighted sum of the losses is their mean)
    """
    masked = (mask_u < time[:, None]) & ~special
    free = (~special).sum().clamp(min=1)
    weights = masked.float() / (time.float()[:, None] * free)
    return ids.masked_fill(masked, mask_id), ids.masked_fill(~masked, -100), weights


def diffusion_loss(logits: Tensor | DeferredLogits, labels: Tensor, weights: Tensor) -> Tensor:
    """The weighted sum of the cross-entropies: logits [B,L,V], labels and weights [B,L] -> scalar; 0 if nothing is
    labelled (-100). Raises ValueError for weights of another shape."""
    if isinstance(logits, DeferredLogits):  # whose sums know no weights
        logits = F.linear(logits.states, logits.weight, logits.bias)
    check_labels(logits, labels)
    if weights.shape != labels.shape:
        raise ValueError(f"loss_weights has shape {list(weights.shape)}, labels has {list(labels.shape)}")
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    losses = F.cross_entropy(wide.flatten(0, 1), labels.flatten(), reduction="none")
    return (losses * weights.flatten().to(losses.dtype)).sum()


@dataclass(frozen=True)
class MaskedDiffusion(Objective):
    """Each row has a share of its own, uniform between `smallest` and 1."""

    mask_id: int
    smallest: float = SMALLEST
    SYMBOLS = ("mask",)

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, length: int) -> Self:
        """Uses the tokenizer's mask."""
        return cls(tokenizer.mask_id)

    def draw(self, batch: Batch, generator: torch.Generator | None = None) -> Draws:
        """time_u uniform [B], mask_u uniform [B,L]"""
        ids = batch["input_ids"]
        return {"time_u": uniform(ids[:, 0], generator), "mask_u": uniform(ids, generator)}

    def corrupt(self, batch: Batch, draws: Draws) -> Batch:
        """The batch with masked input_ids [B,L], labels [B,L] and loss_weights [B,L], as `diffuse` returns them."""
        time = self.smallest + (1 - self.smallest) * draws["time_u"]
        found = diffuse(batch["input_ids"], special(batch), self.mask_id, time, draws["mask_u"])
        return {**batch, **dict(zip(("input_ids", "labels", "loss_weights"), found, strict=True))}


OBJECTIVE = MaskedDiffusion
