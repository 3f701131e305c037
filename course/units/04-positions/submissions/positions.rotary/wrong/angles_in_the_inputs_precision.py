"""You compute the angles in the type of the input: in bfloat16 there is no number between 2000 and 2008, so words share places."""

import torch


def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    frequency = (base ** (-torch.arange(0, dim, 2).double() / dim)).to(x.dtype)
    angle = positions.to(x.dtype)[:, None] * frequency
    sin, cos = angle.sin(), angle.cos()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
