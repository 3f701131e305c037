"""Your window looks back only. This is an encoder's mask: the text to the right is there as well."""

import torch


def local_global_mask(length, window, global_positions):
    at = torch.arange(length)
    distance = at[:, None] - at
    mask = (distance >= 0) & (distance <= window // 2)
    mask[global_positions] = True
    mask[:, global_positions] = True
    return mask
