"""You give hidden positions the score zero; zero is an ordinary score, and exp(0) = 1 is an ordinary share.

Which score does the softmax turn into exactly nothing?
"""

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
    weights = torch.softmax(scores.masked_fill(~mask, 0.0), dim=-1)
    return weights @ v, weights
