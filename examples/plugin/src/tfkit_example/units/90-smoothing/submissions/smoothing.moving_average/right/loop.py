import torch


def moving_average(x):
    return torch.stack([x[:, : t + 1].mean(1) for t in range(x.size(1))], 1)
