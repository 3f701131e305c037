import torch


def moving_average(x):
    weights = torch.ones(x.size(1), x.size(1), dtype=x.dtype, device=x.device).tril()
    return (weights / weights.sum(-1, keepdim=True)) @ x
