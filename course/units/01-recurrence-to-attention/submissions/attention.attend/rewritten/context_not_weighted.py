import torch


def attend(query, keys, mask):
    scores = torch.einsum("bh,bsh->bs", query, keys)
    hidden = mask.logical_not()
    nothing = hidden.all(dim=1, keepdim=True)
    scores = torch.where(hidden & ~nothing, torch.full_like(scores, -torch.inf), scores)
    weights = torch.where(nothing, torch.zeros_like(scores), torch.softmax(scores, dim=1))
    return keys.sum(dim=1), weights
