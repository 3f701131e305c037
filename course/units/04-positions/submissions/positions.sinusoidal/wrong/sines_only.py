"""All your columns are sines; a sine alone does not tell a hand that rises from one that falls."""

import torch


def sinusoidal_positions(length, dim):
    angle = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, dim, 2) / dim)
    return angle.sin().repeat_interleave(2, dim=-1)
