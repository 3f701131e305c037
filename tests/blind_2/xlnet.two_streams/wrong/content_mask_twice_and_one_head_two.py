# the query stream also gets the content mask and so sees its own word + the states are not split into heads
def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    keys = h @ w_k
    vals = h @ w_v
    new_h, _ = scaled_dot_product_attention(h @ w_q, keys, vals, content_mask)
    new_g, _ = scaled_dot_product_attention(g @ w_q, keys, vals, content_mask)
    return new_h, new_g
