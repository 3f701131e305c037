import math

import torch


def masked(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    seen = mask.any(dim=-1, keepdim=True)
    safe = scores.masked_fill(~mask & seen, -math.inf)
    return torch.softmax(safe, dim=-1) * seen


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = masked((q / math.sqrt(q.shape[-1])) @ k.mT, mask)
    return torch.matmul(weights, v), weights
