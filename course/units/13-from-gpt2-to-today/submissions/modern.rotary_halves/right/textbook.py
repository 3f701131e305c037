import torch


def apply_rotary_halves(x, positions, base=10000.0):
    half = x.size(-1) // 2
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    frequencies = base ** (-torch.arange(half, dtype=wide.dtype, device=x.device) / half)
    angles = positions[:, None] * frequencies
    cos, sin = angles.cos(), angles.sin()
    first, second = wide[..., :half], wide[..., half:]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1).to(x.dtype)
