import torch


def local_global_mask(length, window, global_positions):
    mask = torch.eye(length, dtype=torch.bool)
    for offset in range(1, min(window // 2, length - 1) + 1):
        mask.diagonal(offset).fill_(True)
        mask.diagonal(-offset).fill_(True)
    for position in set(global_positions):
        mask[position] = True
        mask[:, position] = True
    return mask
