"""Each of your columns is only scaled; in a rotation each of the two receives a share of the other."""

import torch


def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    frequency = base ** (-torch.arange(0, dim, 2).double() / dim)
    angle = positions.double()[:, None] * frequency
    return x * angle.cos().repeat_interleave(2, dim=-1).to(x.dtype)
