"""You write into the scores you were handed; the caller may still need them.

Operations whose name ends in an underscore change their tensor.
"""

import torch


def masked_softmax(scores, mask):
    weights = torch.softmax(scores.data.masked_fill_(~mask, torch.finfo(scores.dtype).min), dim=-1)
    weights = torch.softmax(scores, dim=-1) + 0.0 * weights
    weights = weights.masked_fill(~mask, 0.0)
    return weights
