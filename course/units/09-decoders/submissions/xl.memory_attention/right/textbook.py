import math

import torch
from tfkit.nn import masked_softmax, merge_heads, split_heads


def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    memory = memory.detach()
    source = torch.cat([memory, x], 1)
    q, k, v = (split_heads(part, n_heads) for part in (x @ w_q, source @ w_k, source @ w_v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    new, past = x.size(1), memory.size(1)
    place = torch.arange(past, past + new, device=x.device)
    mask = torch.arange(past + new, device=x.device)[None, :] <= place[:, None]
    return merge_heads(masked_softmax(scores, mask) @ v)
