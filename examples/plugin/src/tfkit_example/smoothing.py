"""The reference of this package's exercise."""

import torch


def moving_average(x):
    """The mean of all positions up to and including each one: attention with equal weights under a causal mask.

    x [B,L,E] -> [B,L,E]
    """
    count = torch.arange(1, x.size(1) + 1, device=x.device)[:, None]
    return x.cumsum(1) / count
