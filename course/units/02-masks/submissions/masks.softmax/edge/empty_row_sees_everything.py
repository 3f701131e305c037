"""A query that may look nowhere is given everything to look at, as if there were no mask."""
# keeps 0.75 of the points

import torch


def masked_softmax(scores, mask):
    hidden = ~mask & mask.any(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
    return weights
