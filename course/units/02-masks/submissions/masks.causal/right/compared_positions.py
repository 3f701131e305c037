import torch


def causal_mask(length):
    position = torch.arange(length)
    return position[None, :] <= position[:, None]
