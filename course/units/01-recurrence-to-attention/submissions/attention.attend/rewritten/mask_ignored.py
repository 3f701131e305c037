import torch


def attend(query, keys, mask):
    weights = torch.softmax((keys * query[:, None, :]).sum(dim=2), dim=1)
    return (keys * weights[:, :, None]).sum(dim=1), weights
