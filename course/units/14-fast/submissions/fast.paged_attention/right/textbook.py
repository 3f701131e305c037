import torch
from tfkit.nn import masked_softmax


def paged_attention(q, key_pages, value_pages, tables, lengths):
    keys = key_pages[tables.clamp(min=0)].flatten(1, 2)
    values = value_pages[tables.clamp(min=0)].flatten(1, 2)
    seen = torch.arange(keys.size(1), device=q.device) < lengths[:, None]
    scores = torch.einsum("bhd,bkhd->bhk", q, keys) * q.size(-1) ** -0.5
    weights = masked_softmax(scores, seen[:, None])
    return torch.einsum("bhk,bkhd->bhd", weights, values)
