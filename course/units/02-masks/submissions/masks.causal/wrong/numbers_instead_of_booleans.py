"""Your mask holds ones and zeros; adding it or indexing with it means something else than with True and False."""

import torch


def causal_mask(length):
    return torch.ones(length, length).tril()
