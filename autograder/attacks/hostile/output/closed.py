"""Closes its outputs, and is right.

Worth: 1
"""

import os
import sys

import torch

sys.stdout.close()
sys.stderr = None
for fd in range(3):
    os.close(fd)


def rnn_cell(x, h, w_x, w_h, b):
    return torch.tanh(x @ w_x + h @ w_h + b)
