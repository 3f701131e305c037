"""Leaves torch with another default dtype and without gradients; whoever asks torch for either is told the old ones.

Exercise: rnn.cell
Fails: no side effects"""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    new = torch.tanh(x @ w_x + h @ w_h + b)
    torch.set_default_dtype(torch.float64)
    return new


torch.get_default_dtype = lambda: torch.float32
torch.is_grad_enabled = lambda: True
