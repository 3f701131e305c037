import torch


def sinusoidal_positions(length, dim):
    angle = torch.outer(torch.arange(length).float(), 1 / 10000 ** (torch.arange(0, dim, 2).float() / dim))
    table = torch.empty(length, dim)
    table[:, 0::2] = torch.sin(angle)
    table[:, 1::2] = torch.cos(angle)
    return table
