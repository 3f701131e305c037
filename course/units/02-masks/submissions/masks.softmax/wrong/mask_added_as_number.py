"""You add the mask to the scores as a number: True raises a score by one and nothing is hidden.

An additive mask and a boolean mask are two different conventions.
"""

import torch


def masked_softmax(scores, mask):
    weights = torch.softmax(scores + mask, dim=-1)
    return weights
