"""Permutation language modelling (Yang et al. 2019, arXiv:1906.08237): predict the words one by one, but in a
random order, so that the context is on both sides and no mask symbol is needed."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ._base import Batch, Draws, Objective, ranks, special, uniform


def permutation_masks(order: Tensor) -> tuple[Tensor, Tensor]:
    """The masks for predicting the words in this order.

    order int64 [L]: order[t] is the position predicted at step t -> (content, query) bool [L,L]: content sees earlier
    steps and itself; query, which must predict its own word, only earlier steps
    """
    step = torch.empty_like(order)
    step[order] = torch.arange(len(order), device=order.device)  # the step at which each position is predicted
    return step[:, None] >= step[None, :], step[:, None] > step[None, :]


@dataclass(frozen=True)
class PermutationLM(Objective):
    """The last `share` of each order is predicted (the paper's 1/K, K = 6); the rest is context.

    Returns XLNet's inputs: perm_mask [B,L,L] (1: may not attend), target_mapping [B,T,L] (which position each target
    is) and labels [B,T].
    """

    share: float = 1 / 6

    def draw(self, batch: Batch, generator: torch.Generator | None = None) -> Draws:
        """order_u uniform [B,L]: the smallest draws are predicted, in their order; the others are context"""
        return {"order_u": uniform(batch["input_ids"], generator)}

    def corrupt(self, batch: Batch, draws: Draws) -> Batch:
        """Adds perm_mask [B,L,L], target_mapping [B,T,L], labels [B,T]; T: the largest number of targets in a row."""
        ids, free = batch["input_ids"], ~special(batch)
        counts = (free.sum(-1).double() * self.share).ceil().long()  # [B]: at least one in a row that is not empty
        rank = ranks(draws["order_u"], free)
        target = rank < counts[:, None]
        rank = rank.float()  # the masks' dtype: no intermediate bool [B,L,L] is needed
        step = rank.masked_fill(~target, -1)  # context comes before all targets, which it does not see,
        at = rank.masked_fill(~target, -2)  # and is hidden from none
        hidden = torch.le(step[:, :, None], at[:, None, :], out=rank.new_empty(*ids.shape, ids.size(1)))
        most = int(counts.max()) if len(counts) else 0
        positions = target.byte().argsort(dim=-1, descending=True, stable=True)[:, :most]  # [B,T]
        mapping = torch.zeros(*positions.shape, ids.size(1), device=ids.device)
        mapping.scatter_(2, positions[..., None], target.gather(1, positions).float()[..., None])
        labels = ids.gather(1, positions).masked_fill(~target.gather(1, positions), -100)
        return {**batch, "perm_mask": hidden, "target_mapping": mapping, "labels": labels}


OBJECTIVE = PermutationLM
