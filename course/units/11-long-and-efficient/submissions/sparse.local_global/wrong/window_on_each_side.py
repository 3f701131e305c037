"""You let each position look `window` to the left and `window` to the right.

The window counts both sides together."""

import torch


def local_global_mask(length, window, global_positions):
    at = torch.arange(length)
    mask = (at[:, None] - at).abs() <= window
    mask[global_positions] = True
    mask[:, global_positions] = True
    return mask
