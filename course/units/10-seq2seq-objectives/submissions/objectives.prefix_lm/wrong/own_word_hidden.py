"""What is written does not see its own position, so the first row may see nothing.

The word at a position is the last that was written, not the one to be predicted."""

import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    causal = place[None, :] < place[:, None]
    prefix = place < prefix_lengths[:, None]
    return (causal | prefix[:, None, :])[:, None]
