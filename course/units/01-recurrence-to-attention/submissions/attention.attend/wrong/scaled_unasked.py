"""You scale the scores; this first form of attention compares query and key by the plain dot product.

Scaling is the next exercise: read what the function is asked to return.
"""

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1) / query.shape[-1] ** 0.5
    hidden = ~mask
    scores = scores.masked_fill(hidden, float("-inf"))
    empty = hidden.all(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
