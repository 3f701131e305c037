import torch


def attend(query, keys, mask):
    scores = torch.einsum("bh,bsh->bs", query, keys)
    hidden = ~mask
    scores = scores.masked_fill(hidden, float("-inf"))
    empty = hidden.all(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(empty, 0.0), dim=-1).masked_fill(empty, 0.0)
    context = torch.einsum("bs,bsh->bh", weights, keys)
    return context, weights
