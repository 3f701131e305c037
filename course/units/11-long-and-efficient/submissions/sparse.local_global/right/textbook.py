import torch


def local_global_mask(length, window, global_positions):
    i = torch.arange(length)[:, None]
    j = torch.arange(length)[None, :]
    mask = (i - j).abs() <= window // 2
    for position in global_positions:
        mask[position, :] = True
        mask[:, position] = True
    return mask
