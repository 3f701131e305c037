"""Your mask hides nothing: every position sees the whole future."""

import torch


def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool)
