"""You give hidden positions the score zero; zero is an ordinary score, and exp(0) = 1 is an ordinary share.

Which score does the softmax turn into exactly nothing?
"""

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    weights = torch.softmax(scores.masked_fill(~mask, 0.0), dim=-1)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
