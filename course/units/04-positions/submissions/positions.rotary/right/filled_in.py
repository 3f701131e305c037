import torch


def apply_rotary(x, positions, base=10000.0):
    dim = x.size(-1)
    out = torch.zeros_like(x)
    for i in range(dim // 2):
        angle = positions.double() * base ** (-2 * i / dim)
        cos, sin = angle.cos().to(x), angle.sin().to(x)
        out[..., 2 * i] = x[..., 2 * i] * cos - x[..., 2 * i + 1] * sin
        out[..., 2 * i + 1] = x[..., 2 * i] * sin + x[..., 2 * i + 1] * cos
    return out
