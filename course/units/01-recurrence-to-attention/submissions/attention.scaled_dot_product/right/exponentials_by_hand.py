import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    powers = torch.exp(scores - scores.detach().amax(dim=-1, keepdim=True)) * mask
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp(min=1.0)
    return weights @ v, weights
