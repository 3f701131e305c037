import torch


def masked_softmax(scores, mask):
    hidden = ~mask
    scores = scores.masked_fill(hidden, float("-inf"))
    empty = hidden.all(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0)
    return weights
