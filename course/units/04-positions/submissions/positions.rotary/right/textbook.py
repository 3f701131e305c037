import torch


def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    frequency = base ** (-torch.arange(0, dim, 2).double() / dim)
    angle = positions.double()[:, None] * frequency
    sin, cos = angle.sin().to(x.dtype), angle.cos().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
