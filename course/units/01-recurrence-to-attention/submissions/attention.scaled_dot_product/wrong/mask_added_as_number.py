"""You add the mask to the scores as a number: True raises a score by one and nothing is hidden.

An additive mask and a boolean mask are two different conventions.
"""

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
    weights = torch.softmax(scores + mask, dim=-1)
    return weights @ v, weights
