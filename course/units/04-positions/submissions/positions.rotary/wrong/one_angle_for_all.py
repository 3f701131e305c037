"""All your pairs turn by the same angle; each pair has a frequency of its own, from fast to slow."""

import torch


def apply_rotary(x, positions, base=10000.0):
    angle = positions.double()[:, None]
    sin, cos = angle.sin().to(x.dtype), angle.cos().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
