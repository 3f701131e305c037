import torch


def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    return torch.softmax(torch.where(mask, scores, torch.full_like(scores, -torch.inf)), dim=-1)
