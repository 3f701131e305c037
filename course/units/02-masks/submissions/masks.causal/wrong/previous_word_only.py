"""Your positions see one word back and no further: that is a Markov chain, not attention over the past."""

import torch


def causal_mask(length):
    full = torch.ones(length, length, dtype=torch.bool)
    return full.tril() & full.triu(diagonal=-1)
