import torch


def rnn_encode(x, w_x, w_h, b):
    h, states = x.new_zeros(len(x), len(w_h)), []
    for word in reversed(x.unbind(1)):
        h = (word @ w_x + h @ w_h + b).tanh()
        states.insert(0, h)
    return torch.stack(states, 1)
