"""Your columns sum to one instead of your rows: the queries compete for a key."""

import torch


def masked_softmax(scores, mask):
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-2).masked_fill(~mask, 0.0)
    return weights
