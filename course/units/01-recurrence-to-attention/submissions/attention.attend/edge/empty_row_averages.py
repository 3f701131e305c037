"""A query that may look nowhere spreads its attention evenly over everything that is hidden.

A very negative number is not minus infinity: when all scores are equally low, all shares are equal.
"""
# keeps 1.00 of the points

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
