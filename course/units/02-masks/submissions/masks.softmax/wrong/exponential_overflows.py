"""Your exponentials overflow for large scores; inf / inf is NaN.

A softmax does not change when the same number is taken from every score of a row.
"""

import torch


def masked_softmax(scores, mask):
    powers = torch.exp(scores).masked_fill(~mask, 0.0)
    total = powers.sum(dim=-1, keepdim=True)
    weights = powers / total.masked_fill(total == 0, 1.0)
    return weights
