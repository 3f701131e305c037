import math

import torch


def sinusoidal_positions(length, dim):
    rate = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    angle = torch.arange(length).unsqueeze(1) * rate
    return torch.stack((angle.sin(), angle.cos()), dim=2).flatten(1)
