"""Your angles are in double precision, which is fine, but so is your table: added to float32 it makes everything double."""

import torch


def sinusoidal_positions(length, dim):
    angle = torch.arange(length).double()[:, None] / 10000.0 ** (torch.arange(0, dim, 2).double() / dim)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, dim)
