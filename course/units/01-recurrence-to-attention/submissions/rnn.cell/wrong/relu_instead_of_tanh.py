"""Your state is cut off below zero and unbounded above; this cell squashes on both sides.

Compare what the two functions do to -3 and to 3.
"""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    return torch.relu(x @ w_x + h @ w_h + b)
