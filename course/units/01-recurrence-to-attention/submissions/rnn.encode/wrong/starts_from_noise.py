"""Your memory starts from random numbers, so the same sentence is read differently each time."""

import torch


def rnn_encode(x, w_x, w_h, b):
    h = torch.randn(x.shape[0], w_h.shape[0]).to(x)
    states = []
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] @ w_x + h @ w_h + b)
        states.append(h)
    return torch.stack(states, dim=1)
