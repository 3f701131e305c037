import math

import torch


def sinusoidal_positions(length, dim):
    rows = []
    for position in range(length):
        row = []
        for i in range(dim // 2):
            angle = position / 10000 ** (2 * i / dim)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)
