"""Your window goes on at the other end of the text: the first and the last word became neighbours."""

import torch


def local_global_mask(length, window, global_positions):
    at = torch.arange(length)
    distance = (at[:, None] - at).abs()
    mask = torch.minimum(distance, length - distance) <= window // 2
    mask[global_positions] = True
    mask[:, global_positions] = True
    return mask
