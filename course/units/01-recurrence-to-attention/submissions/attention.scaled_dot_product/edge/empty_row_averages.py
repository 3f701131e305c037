"""A query that may look nowhere spreads its attention evenly over everything that is hidden.

A very negative number is not minus infinity: when all scores are equally low, all shares are equal.
"""
# keeps 1.00 of the points

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)
    return weights @ v, weights
