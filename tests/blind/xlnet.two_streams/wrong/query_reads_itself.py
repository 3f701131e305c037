# the query stream makes its keys and values from itself instead of the content stream
def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    def one(x, mask):
        q = split_heads(x @ w_q, n_heads)
        k = split_heads(x @ w_k, n_heads)
        v = split_heads(x @ w_v, n_heads)
        return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0])

    return one(h, content_mask), one(g, query_mask)
