"""You use the raw scores as weights: they need not be positive and do not sum to one."""

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    weights = scores.masked_fill(~mask, 0.0)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
