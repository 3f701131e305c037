"""Your weights compete across the sentences of the batch rather than across the words of one sentence.

What must sum to one?
"""

import torch


def attend(query, keys, mask):
    scores = (keys * query.unsqueeze(1)).sum(dim=-1)
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=0).masked_fill(~mask, 0.0)
    context = (weights.unsqueeze(-1) * keys).sum(dim=1)
    return context, weights
