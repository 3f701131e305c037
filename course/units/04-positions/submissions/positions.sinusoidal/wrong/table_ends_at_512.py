"""You cut the positions out of a fixed table of 512 rows, so a longer text gets too few rows."""

import torch


def _table(dim, rows=512):
    positions = torch.arange(rows, dtype=torch.float32)[:, None]
    rates = 10000 ** (-torch.arange(0, dim, 2, dtype=torch.float32) / dim)
    table = torch.zeros(rows, dim)
    table[:, 0::2], table[:, 1::2] = torch.sin(positions * rates), torch.cos(positions * rates)
    return table


def sinusoidal_positions(length, dim):
    return _table(dim)[:length]
