import torch


def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    return torch.where(mask, torch.softmax(scores, dim=-1), torch.zeros_like(scores))
