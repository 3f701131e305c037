"""You write into the scores you were handed; the caller may still need them.

Operations whose name ends in an underscore change their tensor.
"""

import torch


def masked_softmax(scores, mask):
    scores.data.masked_fill_(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights
