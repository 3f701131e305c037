# both streams as one batch axis, keys and values computed once and broadcast
def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    B, L, E = h.shape
    D = E // n_heads
    q = torch.stack([h, g]) @ w_q                                   # [2,B,L,E]
    q = q.reshape(2, B, L, n_heads, D).permute(0, 1, 3, 2, 4)
    k = (h @ w_k).reshape(B, L, n_heads, D).permute(0, 2, 1, 3)
    v = (h @ w_v).reshape(B, L, n_heads, D).permute(0, 2, 1, 3)
    scores = torch.einsum("sbhid,bhjd->sbhij", q, k) / math.sqrt(D)
    masks = torch.stack([content_mask, query_mask])[:, None, None]
    weights = masked_softmax(scores, masks)
    out = torch.einsum("sbhij,bhjd->sbihd", weights, v).reshape(2, B, L, E)
    return out[0], out[1]
