"""Your numbers are right, but no gradient reaches the previous state, so nothing learns across time.

Learning through time needs the path from the new state to the old one.
"""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    return torch.tanh(x @ w_x + h.detach() @ w_h + b)
