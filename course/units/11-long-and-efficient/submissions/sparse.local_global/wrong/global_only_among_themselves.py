"""You let two positions meet beyond the window only if both are global; one of the two is enough."""

import torch


def local_global_mask(length, window, global_positions):
    at = torch.arange(length)
    mask = (at[:, None] - at).abs() <= window // 2
    chosen = torch.zeros(length, dtype=torch.bool)
    chosen[global_positions] = True
    return mask | (chosen[:, None] & chosen)
