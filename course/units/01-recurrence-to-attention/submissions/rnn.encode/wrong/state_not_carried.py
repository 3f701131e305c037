"""You do not pass the state from one step to the next, so every word is read with an empty memory."""

import torch


def rnn_encode(x, w_x, w_h, b):
    zero = x.new_zeros(x.shape[0], w_h.shape[0])
    return torch.stack([torch.tanh(x[:, t] @ w_x + zero @ w_h + b) for t in range(x.shape[1])], dim=1)
