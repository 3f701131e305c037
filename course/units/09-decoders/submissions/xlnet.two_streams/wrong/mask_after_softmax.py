"""You set weights to zero after the softmax, so a row no longer sums to one.

What is hidden must not take part in the sum below the fraction line."""

from tfkit.nn import masked_softmax, merge_heads, split_heads


def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    k = split_heads(h @ w_k, n_heads)
    v = split_heads(h @ w_v, n_heads)
    q_h = split_heads(h @ w_q, n_heads)
    q_g = split_heads(g @ w_q, n_heads)
    scale = q_h.size(-1) ** -0.5
    content = ((q_h @ k.transpose(-2, -1) * scale).softmax(-1) * content_mask) @ v
    query = ((q_g @ k.transpose(-2, -1) * scale).softmax(-1) * query_mask) @ v
    return merge_heads(content), merge_heads(query)
