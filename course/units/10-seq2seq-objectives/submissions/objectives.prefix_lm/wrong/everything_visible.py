"""Your rows see the whole text, what is still to be written included: that is an encoder."""

import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    causal = place[None, :] <= place[:, None]
    prefix = place < prefix_lengths[:, None]
    return torch.ones_like(causal)[None, None] & (prefix_lengths >= 0)[:, None, None, None]
