import torch


def attend(query, keys, mask):
    scores = torch.bmm(keys, query.unsqueeze(2)).squeeze(2)
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=1).masked_fill(~mask, 0.0)
    context = torch.bmm(weights.unsqueeze(1), keys).squeeze(1)
    return context, weights
