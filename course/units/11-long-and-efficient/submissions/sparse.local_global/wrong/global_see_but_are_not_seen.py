"""Your global positions see all, but are seen only by their neighbours.

What they gather from the whole text must come back to everyone."""

import torch


def local_global_mask(length, window, global_positions):
    at = torch.arange(length)
    mask = (at[:, None] - at).abs() <= window // 2
    mask[global_positions] = True
    return mask
