"""You pick the single best word; a choice has no gradient, so nothing can learn where to look.

Soft attention spreads its weight, which is why it can be trained.
"""

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    lowest = torch.finfo(scores.dtype).min
    best = scores.masked_fill(~mask, lowest).argmax(dim=1, keepdim=True)
    weights = torch.zeros_like(scores).scatter(1, best, 1.0).masked_fill(~mask, 0.0)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
