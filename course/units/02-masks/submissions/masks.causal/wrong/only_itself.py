"""Your positions see nothing but themselves; the past should be visible too."""

import torch


def causal_mask(length):
    return torch.eye(length, dtype=torch.bool)
