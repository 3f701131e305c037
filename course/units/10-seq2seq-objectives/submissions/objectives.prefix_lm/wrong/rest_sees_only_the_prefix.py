"""What is written does not see what was written before it.

The rest reads the prefix, and itself from left to right."""

import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    causal = place[None, :] <= place[:, None]
    prefix = place < prefix_lengths[:, None]
    own = torch.eye(length, dtype=torch.bool, device=place.device)
    return (prefix[:, None, :] | own)[:, None]
