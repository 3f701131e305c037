"""Your weights are right, but the context is the plain average of the words you may see: the weights are not used."""

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    hidden = ~mask
    scores = scores.masked_fill(hidden, float("-inf"))
    empty = hidden.all(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0)
    visible = mask.to(keys.dtype)
    count = visible.sum(dim=1, keepdim=True).clamp(min=1.0)
    context = (visible.unsqueeze(-1) * keys).sum(dim=1) / count
    return context, weights
