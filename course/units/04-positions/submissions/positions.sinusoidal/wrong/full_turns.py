"""You multiply the angles by two pi; the paper's angles are in radians as they stand, so whole steps never repeat."""

import math

import torch


def sinusoidal_positions(length, dim):
    angle = 2 * math.pi * torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, dim, 2) / dim)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, dim)
