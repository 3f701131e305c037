"""You hide positions after the softmax, so the weights that remain no longer sum to one.

Hidden words must not take part in the competition at all.
"""

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
