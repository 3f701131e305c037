"""You leave the drawn blocks out. Without these shortcuts two far parts of the text are many layers apart."""

import torch


def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    a = torch.arange(length // block)
    first = a < global_blocks
    mask = ((a[:, None] - a).abs() <= window_blocks // 2) | first[:, None] | first
    return mask.repeat_interleave(block, 0).repeat_interleave(block, 1)
