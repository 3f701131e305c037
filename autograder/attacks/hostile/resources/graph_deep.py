"""Answers with a tensor whose gradient takes for ever.

Worth: 0.7
"""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    new = x @ w_x + h @ w_h + b
    for _ in range(20_000):
        new = new + 0 * new.sum()
    return new
