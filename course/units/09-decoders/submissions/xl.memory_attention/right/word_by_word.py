import torch
from tfkit.nn import merge_heads, scaled_dot_product_attention, split_heads


def memory_attention(x, memory, w_q, w_k, w_v, n_heads):
    q = split_heads(x @ w_q, n_heads)
    rows = []
    for i in range(x.size(1)):
        seen = torch.cat([memory.detach(), x[:, : i + 1]], 1)
        k, v = split_heads(seen @ w_k, n_heads), split_heads(seen @ w_v, n_heads)
        rows.append(scaled_dot_product_attention(q[:, :, i : i + 1], k, v)[0])
    return merge_heads(torch.cat(rows, 2))
