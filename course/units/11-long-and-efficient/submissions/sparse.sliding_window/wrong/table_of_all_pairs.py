"""You still compute all L x L scores and hide most of them. The result is right, but nothing is saved."""

import math

import torch


def sliding_window_attention(q, k, v, window):
    at = torch.arange(q.size(1), device=q.device)
    near = (at[:, None] - at).abs() <= window // 2
    scores = q @ k.transpose(1, 2) / math.sqrt(q.size(-1))
    return scores.masked_fill(~near, -torch.inf).softmax(-1) @ v
