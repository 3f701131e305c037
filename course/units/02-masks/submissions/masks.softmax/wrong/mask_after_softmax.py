"""You hide positions after the softmax, so the weights that remain no longer sum to one.

Hidden words must not take part in the competition at all.
"""

import torch


def masked_softmax(scores, mask):
    weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights
