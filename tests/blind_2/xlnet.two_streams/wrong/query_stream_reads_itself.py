# keys and values of the query stream are made from g instead of from h
def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    def attend(states, mask):
        q = split_heads(states @ w_q, n_heads)
        k = split_heads(states @ w_k, n_heads)
        v = split_heads(states @ w_v, n_heads)
        return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0])

    return attend(h, content_mask), attend(g, query_mask)
