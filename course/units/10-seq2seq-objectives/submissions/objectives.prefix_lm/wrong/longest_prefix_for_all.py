"""You use the longest prefix for the whole batch, so shorter ones see what they have to write."""

import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    causal = place[None, :] <= place[:, None]
    prefix = place < prefix_lengths.max().expand(len(prefix_lengths))[:, None]
    return (causal | prefix[:, None, :])[:, None]
