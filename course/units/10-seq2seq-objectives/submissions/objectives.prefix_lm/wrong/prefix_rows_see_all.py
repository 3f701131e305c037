"""Your prefix sees what is written after it, and hands the answers back to those who have to give them.

Only columns of the prefix are opened."""

import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    causal = place[None, :] <= place[:, None]
    prefix = place < prefix_lengths[:, None]
    return (causal | prefix[:, :, None])[:, None]
