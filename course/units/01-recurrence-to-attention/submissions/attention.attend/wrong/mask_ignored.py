"""Your mask has no effect: hidden positions still get weight."""

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    weights = torch.softmax(scores, dim=-1)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
