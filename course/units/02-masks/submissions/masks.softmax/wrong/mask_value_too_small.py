"""Your mask only lowers the hidden scores by a fixed number that real scores can reach, so hidden words come back when the others score low."""

import torch


def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -10.0), dim=-1)
    weights = weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return weights
