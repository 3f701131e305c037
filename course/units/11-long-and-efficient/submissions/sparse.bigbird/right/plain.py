import torch


def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    a = torch.arange(length // block, device=random_blocks.device)
    first = a < global_blocks
    drawn = (random_blocks[:, :, None] == a).any(1)
    mask = ((a[:, None] - a).abs() <= window_blocks // 2) | first[:, None] | first | drawn
    return mask.repeat_interleave(block, 0).repeat_interleave(block, 1)
