"""Your result is float32 whatever the type of the input was; the next layer expects the type it gave you."""

import torch


def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    frequency = base ** (-torch.arange(0, dim, 2).float() / dim)
    angle = positions.float()[:, None] * frequency
    sin, cos = angle.sin(), angle.cos()
    even, odd = x[..., 0::2].float(), x[..., 1::2].float()
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
