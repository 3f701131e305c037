"""You added axes for batch and heads; a causal mask is the same for all of them, and broadcasting supplies the axes."""

import torch


def causal_mask(length):
    return torch.ones(1, 1, length, length, dtype=torch.bool).tril()
