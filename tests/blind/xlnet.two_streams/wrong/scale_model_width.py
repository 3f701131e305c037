# divides the scores by the square root of the model width E, not of a head's width
def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    B, L, E = h.shape
    D = E // n_heads
    k = (h @ w_k).view(B, L, n_heads, D)
    v = (h @ w_v).view(B, L, n_heads, D)
    outs = []
    for x, m in ((h, content_mask), (g, query_mask)):
        q = (x @ w_q).view(B, L, n_heads, D)
        s = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(E)
        w = s.masked_fill(~m, -1e30).softmax(-1).masked_fill(~m, 0.0)
        outs.append(torch.einsum("bhij,bjhd->bihd", w, v).reshape(B, L, E))
    return tuple(outs)
