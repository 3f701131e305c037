"""Computes several results of which it knows nothing, and returns a wrong one, hoping that another name is a slip."""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    total = x @ w_x + h @ w_h + b
    first = torch.sigmoid(total).cumsum(-1)
    second = torch.tanh(total)
    third = torch.relu(total).flip(-1)
    return first
