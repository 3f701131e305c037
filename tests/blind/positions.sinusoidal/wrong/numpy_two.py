# each column has a frequency of its own (the odd ones 10000^((2i+1)/dim)) + returns float64
import numpy as np


def sinusoidal_positions(length, dim):
    pos = np.arange(length)[:, np.newaxis]
    col = np.arange(dim)[np.newaxis, :]
    angle = pos / np.power(10000.0, col / dim)
    table = np.where(col % 2 == 0, np.sin(angle), np.cos(angle))
    return torch.from_numpy(table)
