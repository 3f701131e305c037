"""You add the mask to the scores as a number: True raises a score by one and nothing is hidden.

An additive mask and a boolean mask are two different conventions.
"""

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    weights = torch.softmax(scores + mask, dim=-1)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
