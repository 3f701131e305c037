import torch


def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()
