"""Your state is squashed into 0…1, so it can never be negative.

Look at the range of the squashing function in the formula.
"""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    return torch.sigmoid(x @ w_x + h @ w_h + b)
