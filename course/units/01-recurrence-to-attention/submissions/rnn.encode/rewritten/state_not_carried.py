import torch


def rnn_encode(x, w_x, w_h, b):
    return torch.tanh(x @ w_x + b)
