"""You write the new state over the tensor you were handed; the caller still needs the old one.

A function of tensors returns a new tensor and leaves its inputs as they were.
"""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    new = torch.tanh(x @ w_x + h @ w_h + b)
    h.data.copy_(new)
    return new
