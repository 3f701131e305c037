import torch


def masked_softmax(scores, mask):
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    powers = torch.exp(scores - scores.detach().amax(dim=-1, keepdim=True)) * mask
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp(min=1.0)
    return weights
