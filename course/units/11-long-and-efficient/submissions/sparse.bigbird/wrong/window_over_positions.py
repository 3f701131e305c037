"""Your window slides position by position. BigBird slides whole blocks: all of a block sees all of the next."""

import torch


def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    a, at = torch.arange(length // block), torch.arange(length)
    first = a < global_blocks
    mask = first[:, None] | first | (random_blocks[:, :, None] == a).any(1)
    near = (at[:, None] - at).abs() <= window_blocks // 2 * block
    return mask.repeat_interleave(block, 0).repeat_interleave(block, 1) | near
