"""Your cosines are in the even columns and your sines in the odd ones; position 0 should read 0, 1, 0, 1."""

import torch


def sinusoidal_positions(length, dim):
    angle = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angle.cos(), angle.sin()], dim=-1).reshape(length, dim)
