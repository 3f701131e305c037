import itertools

import torch


def rnn_encode(x, w_x, w_h, b):
    def step(h, word):
        return torch.tanh(word @ w_x + h @ w_h + b)

    start = torch.zeros(x.shape[0], w_h.shape[0], dtype=x.dtype, device=x.device)
    states = list(itertools.accumulate(x.unbind(1), step, initial=start))
    return torch.stack(states[1:], dim=1)
