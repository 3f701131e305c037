"""You assign the columns to the heads in turn, but each head takes a block of consecutive columns."""

from tfkit.nn import masked_softmax


def split_heads(x, heads):
    return x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)


def merge_heads(x):
    return x.permute(0, 2, 3, 1).flatten(2)


def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    k = split_heads(h @ w_k, n_heads)
    v = split_heads(h @ w_v, n_heads)
    q_h = split_heads(h @ w_q, n_heads)
    q_g = split_heads(g @ w_q, n_heads)
    scale = q_h.size(-1) ** -0.5
    content = masked_softmax(q_h @ k.transpose(-2, -1) * scale, content_mask) @ v
    query = masked_softmax(q_g @ k.transpose(-2, -1) * scale, query_mask) @ v
    return merge_heads(content), merge_heads(query)
