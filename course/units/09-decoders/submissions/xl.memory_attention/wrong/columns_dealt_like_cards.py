"""You assign the columns to the heads in turn, but each head takes a block of consecutive columns."""

import math

import torch
from tfkit.nn import masked_softmax


def dealt(x, heads):
    return x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    source = torch.cat([memory.detach(), x], dim=1)
    q = dealt(x @ w_q, n_heads)
    k = dealt(source @ w_k, n_heads)
    v = dealt(source @ w_v, n_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    past = memory.size(1)
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).tril(past)
    return (masked_softmax(scores, mask) @ v).permute(0, 2, 3, 1).flatten(2)
