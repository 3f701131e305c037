"""Takes all memory in one tensor, at every call."""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    return torch.ones(1 << 36)
