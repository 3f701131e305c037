import torch


def local_global_mask(length, window, global_positions):
    rows = [
        [abs(i - j) <= window // 2 or i in global_positions or j in global_positions for j in range(length)]
        for i in range(length)
    ]
    return torch.tensor(rows, dtype=torch.bool)
