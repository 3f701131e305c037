import torch


def split_heads(x, heads):
    width = x.shape[-1] // heads
    parts = [x[:, :, h * width : (h + 1) * width] for h in range(heads)]
    return torch.stack(parts, dim=1)


def merge_heads(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=2)
