"""You have exchanged rows and columns: a row is who looks, a column is what is looked at."""

import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    causal = place[None, :] <= place[:, None]
    prefix = place < prefix_lengths[:, None]
    return (causal | prefix[:, None, :])[:, None].transpose(-2, -1)
