"""Your waves get faster from left to right, up to thousands of turns a step; the first pair is the fastest one."""

import torch


def sinusoidal_positions(length, dim):
    angle = torch.arange(length, dtype=torch.float64)[:, None] * 10000.0 ** (torch.arange(0, dim, 2).double() / dim)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, dim).float()
