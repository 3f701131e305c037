"""You empty the list `global_positions` while you read it; the caller needs it for the next text."""

import torch


def local_global_mask(length, window, global_positions):
    at = torch.arange(length)
    mask = (at[:, None] - at).abs() <= window // 2
    while global_positions:
        position = global_positions.pop()
        mask[position] = True
        mask[:, position] = True
    return mask
