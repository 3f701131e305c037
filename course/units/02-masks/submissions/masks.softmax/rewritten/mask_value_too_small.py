import torch


def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    weights = torch.softmax(torch.where(mask, scores, torch.full_like(scores, -20.0)), dim=-1)
    return torch.where(mask.any(-1, keepdim=True), weights, torch.zeros_like(weights))
