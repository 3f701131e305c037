import torch


def prefix_lm_mask(prefix_lengths, length):
    i = torch.arange(length, device=prefix_lengths.device).view(1, 1, -1, 1)
    j = torch.arange(length, device=prefix_lengths.device).view(1, 1, 1, -1)
    prefix = prefix_lengths.view(-1, 1, 1, 1)
    return (j <= i) | ((i < prefix) & (j < prefix))
