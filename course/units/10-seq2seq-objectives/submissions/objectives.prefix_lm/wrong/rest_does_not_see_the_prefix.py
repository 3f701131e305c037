"""What is written does not see the prefix; what was it read for?

An encoder hands its states over, and so does a prefix."""

import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    causal = place[None, :] <= place[:, None]
    prefix = place < prefix_lengths[:, None]
    return (torch.where(prefix[:, :, None], prefix[:, None, :], causal & ~prefix[:, None, :]))[:, None]
