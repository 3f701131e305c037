import math

import torch


def one_query(query, k, v, mask):
    scores = (k * query.unsqueeze(-2)).sum(dim=-1) / math.sqrt(k.shape[-1])
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1).masked_fill(~mask, 0.0)
    return (weights.unsqueeze(-1) * v).sum(dim=-2), weights


def scaled_dot_product_attention(q, k, v, mask=None):
    shape = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2]) + (q.shape[-2], k.shape[-2])
    mask = torch.ones((), dtype=torch.bool, device=q.device) if mask is None else mask
    mask = mask.expand(shape)
    rows = [one_query(q[..., i, :], k, v, mask[..., i, :]) for i in range(q.shape[-2])]
    return torch.stack([out for out, _ in rows], dim=-2), torch.stack([w for _, w in rows], dim=-2)
