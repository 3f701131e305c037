"""Your exponent counts pairs and divides by the columns, so it only comes half the way: your slow pairs turn too fast."""

import torch


def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    frequency = base ** (-torch.arange(dim // 2).double() / dim)
    angle = positions.double()[:, None] * frequency
    sin, cos = angle.sin().to(x.dtype), angle.cos().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
