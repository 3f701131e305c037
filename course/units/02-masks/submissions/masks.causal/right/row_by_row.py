import torch


def causal_mask(length):
    rows = [[key <= query for key in range(length)] for query in range(length)]
    return torch.tensor(rows, dtype=torch.bool).reshape(length, length)
