"""Your mask is True where looking is forbidden.

In this course True says: may attend.
"""

import torch


def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)
