import torch


def attend(query, keys, mask):
    weights = torch.where(mask, (keys * query[:, None, :]).sum(dim=2), torch.zeros_like(keys[:, :, 0]))
    return (keys * weights[:, :, None]).sum(dim=1), weights
