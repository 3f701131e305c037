"""Your mask is True where a position must not look.

Here True means: may attend."""

import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    causal = place[None, :] <= place[:, None]
    prefix = place < prefix_lengths[:, None]
    return ~(causal | prefix[:, None, :])[:, None]
