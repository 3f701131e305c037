"""You make the last blocks global as well. The published code does so; here only the first are."""

import torch


def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    a = torch.arange(length // block)
    ends = (a < global_blocks) | (a >= len(a) - global_blocks)
    drawn = (random_blocks[:, :, None] == a).any(1)
    mask = ((a[:, None] - a).abs() <= window_blocks // 2) | ends[:, None] | ends | drawn
    return mask.repeat_interleave(block, 0).repeat_interleave(block, 1)
