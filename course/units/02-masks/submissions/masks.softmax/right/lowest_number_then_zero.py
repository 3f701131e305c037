import torch


def masked_softmax(scores, mask):
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(torch.where(mask, scores, lowest), dim=-1)
    return torch.where(mask, weights, 0.0)
