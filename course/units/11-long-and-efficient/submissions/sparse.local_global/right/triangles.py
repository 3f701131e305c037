import torch


def local_global_mask(length, window, global_positions):
    half = window // 2
    band = torch.ones(length, length, dtype=torch.bool).tril(half).triu(-half)
    everyone = torch.zeros(length, dtype=torch.bool)
    everyone[list(global_positions)] = True
    return band | everyone[None] | everyone[:, None]
