import math

import torch

from tfkit.nn import masked_softmax, merge_heads, relative_shift, split_heads


def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    past, length = memory.shape[1], x.shape[1]
    source = torch.cat([memory.detach(), x], dim=1)
    heads = u.shape[0]
    q = split_heads(x @ w_q, heads)
    k = split_heads(source @ w_k, heads)
    values = split_heads(source @ w_v, heads)
    r = split_heads((position_encodings @ w_r).unsqueeze(0), heads)
    content = (q + u.unsqueeze(1)) @ k.transpose(-2, -1)
    distance = relative_shift((q + v.unsqueeze(1)) @ r.transpose(-2, -1))
    scores = (content + distance) / math.sqrt(q.shape[-1])
    mask = torch.ones(length, past + length, dtype=torch.bool, device=x.device).tril(past)
    weights = masked_softmax(scores, mask)
    output = merge_heads(weights @ values)
    new_memory = source[:, max(past + length - memory_length, 0) :].detach()
    return output, new_memory
