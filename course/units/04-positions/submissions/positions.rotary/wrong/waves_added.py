"""You add the waves to the vector, as in the 2017 paper; a rotation multiplies, and leaves the vector as long as it was."""

import torch


def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    frequency = base ** (-torch.arange(0, dim, 2).double() / dim)
    angle = positions.double()[:, None] * frequency
    return x + torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2).to(x.dtype)
