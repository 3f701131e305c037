import torch


def local_global_mask(length, window, global_positions):
    at = torch.arange(length)
    mask = (at[:, None] - at).abs() <= window // 2
    mask[global_positions] = True
    mask[:, global_positions] = True
    return mask
