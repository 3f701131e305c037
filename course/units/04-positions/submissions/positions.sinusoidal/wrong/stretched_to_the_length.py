"""You divide the position by the length: word 3 of a short sentence then gets another code than word 3 of a long one."""

import torch


def sinusoidal_positions(length, dim):
    position = torch.arange(length) / length
    angle = position[:, None] / 10000.0 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, dim)
