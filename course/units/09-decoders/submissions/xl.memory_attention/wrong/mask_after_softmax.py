"""You set weights to zero after the softmax, so a row no longer sums to one.

What is hidden must not take part in the sum below the fraction line."""

import math

import torch
from tfkit.nn import merge_heads, split_heads


def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    source = torch.cat([memory.detach(), x], dim=1)
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(source @ w_k, n_heads)
    v = split_heads(source @ w_v, n_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    past = memory.size(1)
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).tril(past)
    return merge_heads((scores.softmax(-1) * mask) @ v)
