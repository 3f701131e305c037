import torch


def causal_mask(length):
    future = torch.triu(torch.ones(length, length), diagonal=1)
    return future == 0
