import torch


def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    heads, width = u.shape
    source = torch.cat([memory.detach(), x], 1)
    keys, queries = source.size(1), x.size(1)
    q = (x @ w_q).unflatten(-1, (heads, width))
    k = (source @ w_k).unflatten(-1, (heads, width))
    values = (source @ w_v).unflatten(-1, (heads, width))
    r = (position_encodings @ w_r).unflatten(-1, (heads, width))
    rows = []
    for i in range(queries):
        last = keys - queries + i  # the query's own place among the keys
        by_word = torch.einsum("bhd,bkhd->bhk", q[:, i] + u, k[:, : last + 1])
        by_distance = torch.einsum("bhd,khd->bhk", q[:, i] + v, r[keys - 1 - last :])
        weights = torch.softmax((by_word + by_distance) / width**0.5, -1)
        rows.append(torch.einsum("bhk,bkhd->bhd", weights, values[:, : last + 1]).flatten(1))
    kept = source[:, -memory_length:] if memory_length else source[:, :0]
    return torch.stack(rows, 1), kept.detach()
