import torch


def rnn_cell(x, h, w_x, w_h, b):
    total = torch.einsum("be,eh->bh", x, w_x) + torch.einsum("bg,gh->bh", h, w_h) + b
    return total.tanh()
