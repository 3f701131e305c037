"""Your cell answers from the present word alone: the state it is handed does not matter.

Without the state nothing can be remembered.
"""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    return torch.tanh(x @ w_x + b)
