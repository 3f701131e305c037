"""You make the first `global_blocks` positions global, but that number counts blocks."""

import torch


def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    a, at = torch.arange(length // block), torch.arange(length)
    first = at < global_blocks
    mask = ((a[:, None] - a).abs() <= window_blocks // 2) | (random_blocks[:, :, None] == a).any(1)
    return mask.repeat_interleave(block, 0).repeat_interleave(block, 1) | first[:, None] | first
