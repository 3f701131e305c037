from tfkit.nn import masked_softmax, merge_heads, split_heads


def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    keys, values = split_heads(h @ w_k, n_heads), split_heads(h @ w_v, n_heads)

    def stream(states, mask):
        queries = split_heads(states @ w_q, n_heads)
        scores = queries @ keys.transpose(-2, -1) / queries.size(-1) ** 0.5
        return merge_heads(masked_softmax(scores, mask) @ values)

    return stream(h, content_mask), stream(g, query_mask)
