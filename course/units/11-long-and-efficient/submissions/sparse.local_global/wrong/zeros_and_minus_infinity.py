"""You give numbers to be added to the scores; the course's masks are boolean, True = may attend."""

import torch


def local_global_mask(length, window, global_positions):
    at = torch.arange(length)
    mask = (at[:, None] - at).abs() <= window // 2
    mask[global_positions] = True
    mask[:, global_positions] = True
    return torch.zeros(length, length).masked_fill(~mask, float("-inf"))
