"""The first word of an order sees nothing, and your softmax over nothing is NaN.

Unit 02 sets such rows apart: they get zeros."""
# keeps 0.85 of the points

from tfkit.nn import merge_heads, split_heads


def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    k = split_heads(h @ w_k, n_heads)
    v = split_heads(h @ w_v, n_heads)
    q_h = split_heads(h @ w_q, n_heads)
    q_g = split_heads(g @ w_q, n_heads)
    scale = q_h.size(-1) ** -0.5
    content = (q_h @ k.transpose(-2, -1) * scale).masked_fill(~content_mask, float("-inf")).softmax(-1) @ v
    query = (q_g @ k.transpose(-2, -1) * scale).masked_fill(~query_mask, float("-inf")).softmax(-1) @ v
    return merge_heads(content), merge_heads(query)
