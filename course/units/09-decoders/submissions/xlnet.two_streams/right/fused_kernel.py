import torch.nn.functional as F


def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    batch, length, width = h.shape

    def cut(x):
        return x.view(batch, length, n_heads, width // n_heads).permute(0, 2, 1, 3)

    def attend(states, mask):
        empty = ~mask.any(dim=-1, keepdim=True)
        out = F.scaled_dot_product_attention(cut(states @ w_q), cut(h @ w_k), cut(h @ w_v), mask | empty)
        return out.masked_fill(empty, 0.0).permute(0, 2, 1, 3).reshape(batch, length, width)

    return attend(h, content_mask), attend(g, query_mask)
