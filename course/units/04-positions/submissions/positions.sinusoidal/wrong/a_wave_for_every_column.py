"""Each of your columns has a frequency of its own; a sine and its cosine must turn together, as one hand of a clock."""

import torch


def sinusoidal_positions(length, dim):
    column = torch.arange(dim)
    angle = torch.arange(length)[:, None] / 10000.0 ** (column / dim)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())
