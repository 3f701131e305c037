"""Your angles are computed in half precision: after a few dozen positions their last digits, and so your waves, are noise."""

import torch


def sinusoidal_positions(length, dim):
    frequency = (10000.0 ** (-torch.arange(0, dim, 2) / dim)).bfloat16()
    angle = torch.arange(length).bfloat16()[:, None] * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, dim).float()
