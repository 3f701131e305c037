"""You use the first row's prefix for the whole batch; each text has its own."""

import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    causal = place[None, :] <= place[:, None]
    prefix = place < prefix_lengths[:1, None].expand(len(prefix_lengths), -1)
    return (causal | prefix[:, None, :])[:, None]
