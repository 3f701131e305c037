"""Your mask has no effect: hidden positions still get weight."""

import torch


def masked_softmax(scores, mask):
    weights = torch.softmax(scores, dim=-1)
    return weights
