import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=1)
    weights = weights.nan_to_num(0.0)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
