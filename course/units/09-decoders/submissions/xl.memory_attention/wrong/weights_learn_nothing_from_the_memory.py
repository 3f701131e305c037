"""Your key and value matrices get no gradient through the memory.

The memory is a constant, but the matrices that make keys and values of it are not: they are meant to learn what to look for there."""

import math

import torch
from tfkit.nn import masked_softmax, merge_heads, split_heads


def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(torch.cat([(memory @ w_k).detach(), x @ w_k], 1), n_heads)
    v = split_heads(torch.cat([(memory @ w_v).detach(), x @ w_v], 1), n_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    past = memory.size(1)
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).tril(past)
    return merge_heads(masked_softmax(scores, mask) @ v)
