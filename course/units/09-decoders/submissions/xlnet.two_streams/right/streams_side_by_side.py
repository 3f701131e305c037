import torch
from tfkit.nn import masked_softmax, merge_heads, split_heads


def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    length = h.size(1)
    q = split_heads(torch.cat([h, g], dim=1) @ w_q, n_heads)  # [B,H,2L,D]
    k = split_heads(h @ w_k, n_heads)
    v = split_heads(h @ w_v, n_heads)
    seen = torch.cat([content_mask, query_mask])  # [2L,L]
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.size(-1) ** 0.5, seen)
    both = merge_heads(weights @ v)
    return both[:, :length], both[:, length:]
