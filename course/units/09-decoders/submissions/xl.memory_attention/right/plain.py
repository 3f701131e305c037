import math

import torch
from tfkit.nn import masked_softmax, merge_heads, split_heads


def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    source = torch.cat([memory.detach(), x], dim=1)
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(source @ w_k, n_heads)
    v = split_heads(source @ w_v, n_heads)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    past = memory.size(1)
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).tril(past)
    return merge_heads(masked_softmax(scores, mask) @ v)
