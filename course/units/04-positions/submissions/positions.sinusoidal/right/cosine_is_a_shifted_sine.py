import math

import torch


def sinusoidal_positions(length, dim):
    column = torch.arange(dim, dtype=torch.float64)
    pair, shift = column.div(2, rounding_mode="floor"), column.remainder(2) * math.pi / 2
    angle = torch.arange(length, dtype=torch.float64)[:, None] / 10000.0 ** (2 * pair / dim)
    return torch.sin(angle + shift).to(torch.get_default_dtype())
