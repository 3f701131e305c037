# a plain softmax over -inf: the position that sees nothing gets NaN
def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    k = split_heads(h @ w_k, n_heads)
    v = split_heads(h @ w_v, n_heads)
    d = k.shape[-1]
    outs = []
    for state, mask in ((h, content_mask), (g, query_mask)):
        q = split_heads(state @ w_q, n_heads)
        s = q @ k.transpose(-2, -1) / math.sqrt(d)
        s = s.masked_fill(~mask, float("-inf"))
        outs.append(merge_heads(F.softmax(s, dim=-1) @ v))
    return outs[0], outs[1]
