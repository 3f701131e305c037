"""Everyone sees your global positions, but they see only their neighbours, so they have nothing to pass on."""

import torch


def local_global_mask(length, window, global_positions):
    at = torch.arange(length)
    mask = (at[:, None] - at).abs() <= window // 2
    mask[:, global_positions] = True
    return mask
