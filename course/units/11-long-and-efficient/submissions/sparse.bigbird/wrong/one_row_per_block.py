"""Your mask has a row and a column for each block; attention needs one for each position."""

import torch


def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    a = torch.arange(length // block)
    first = a < global_blocks
    drawn = (random_blocks[:, :, None] == a).any(1)
    return ((a[:, None] - a).abs() <= window_blocks // 2) | first[:, None] | first | drawn
