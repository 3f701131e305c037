"""Permutation language modelling (Yang et al. 2019, arXiv:1906.08237): predict the words one by one, but in an order
drawn at random, so that each learns to use words on both sides and no mask symbol is ever seen."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from ._base import Batch, Draws, Objective, ranks, special, uniform


def permutation_masks(order):
    """Who may look at whom when the words are predicted in this order.

    order int64 [L]: order[t] is the position predicted at step t -> (content, query) bool [L,L]: content sees what came
    earlier and itself; query, which must predict its own word, what came earlier only
    """
    step = torch.empty_like(order)
    step[order] = torch.arange(len(order), device=order.device)  # the step at which each position comes
    return step[:, None] >= step[None, :], step[:, None] > step[None, :]


@dataclass(frozen=True)
class PermutationLM(Objective):
    """The last `share` of each order is predicted (the paper's 1/K, K = 6); all before is plain context.

    Gives what XLNet reads: perm_mask [B,L,L] (1: may not look), target_mapping [B,T,L] (which position each target is)
    and labels [B,T].
    """

    share: float = 1 / 6

    def draw(self, batch: Batch, generator: torch.Generator | None = None) -> Draws:
        return {"order_u": uniform(batch["input_ids"], generator)}

    def corrupt(self, batch: Batch, draws: Draws) -> Batch:
        ids, free = batch["input_ids"], ~special(batch)
        counts = (free.sum(-1).double() * self.share).ceil().long()  # [B]: at least one, where there is a word at all
        rank = ranks(draws["order_u"], free)
        target = rank < counts[:, None]
        step = rank.masked_fill(~target, -1)  # context comes first, and sees all of itself
        hidden = target[:, None, :] & (step[:, :, None] <= step[:, None, :])  # [B,L,L]: j is no earlier than i
        place = target.byte().argsort(dim=-1, descending=True, stable=True)[:, : int(counts.max())]  # [B,T]
        mapping = F.one_hot(place, ids.size(1)) * target.gather(1, place)[..., None]
        labels = ids.gather(1, place).masked_fill(~target.gather(1, place), -100)
        return {**batch, "perm_mask": hidden.float(), "target_mapping": mapping.float(), "labels": labels}
