"""Answers with two gigabytes."""

import torch


def rnn_cell(x, h, w_x, w_h, b):
    return torch.zeros(1).expand(1 << 29)
