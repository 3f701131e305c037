# the query stream reads the content states after their update instead of before
def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    k = split_heads(h @ w_k, n_heads)
    v = split_heads(h @ w_v, n_heads)
    h, _ = scaled_dot_product_attention(split_heads(h @ w_q, n_heads), k, v, content_mask)
    h = merge_heads(h)
    k = split_heads(h @ w_k, n_heads)
    v = split_heads(h @ w_v, n_heads)
    g, _ = scaled_dot_product_attention(split_heads(g @ w_q, n_heads), k, v, query_mask)
    return h, merge_heads(g)
