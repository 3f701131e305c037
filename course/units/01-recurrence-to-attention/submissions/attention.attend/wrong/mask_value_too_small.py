"""Your mask only lowers the hidden scores by a fixed number that real scores can reach, so hidden words come back when the others score low."""

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    weights = torch.softmax(scores.masked_fill(~mask, -10.0), dim=-1)
    weights = weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
