import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    mask = mask.expand(scores.shape)
    nothing = mask.logical_not().all(dim=-1, keepdim=True)
    scores = torch.where(mask | nothing, scores, torch.full_like(scores, -torch.inf))
    weights = torch.where(nothing, torch.zeros_like(scores), torch.softmax(scores, dim=-2))
    return torch.einsum("...qk,...kv->...qv", weights, v), weights
