"""Your function turns the caller's own tensor; whoever calls it twice has turned twice."""

import torch


def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    frequency = base ** (-torch.arange(0, dim, 2).double() / dim)
    angle = positions.double()[:, None] * frequency
    sin, cos = angle.sin().to(x.dtype), angle.cos().to(x.dtype)
    even, odd = x[..., 0::2].clone(), x[..., 1::2].clone()
    with torch.no_grad():
        x[..., 0::2] = even * cos - odd * sin
        x[..., 1::2] = even * sin + odd * cos
    return x
