import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    lowest = torch.finfo(scores.dtype).min
    scores = torch.where(mask, scores, lowest)
    powers = torch.exp(scores - scores.amax(dim=1, keepdim=True).detach()) * mask
    weights = powers / powers.sum(dim=1, keepdim=True).clamp(min=1.0)  # the largest power is exp(0)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
