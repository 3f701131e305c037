"""You divide the scores by their sum; a negative score then gives a negative share and the sum may be near zero.

Make every score positive first.
"""

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    positive = scores.masked_fill(~mask, 0.0)
    total = positive.sum(dim=1, keepdim=True)
    weights = positive / total.masked_fill(total == 0, 1.0)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
