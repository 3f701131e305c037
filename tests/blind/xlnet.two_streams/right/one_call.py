# both streams' queries in one row of 2L positions, one attention call with the masks on top of each other
def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    length = h.shape[1]
    both = torch.cat([h, g], dim=1)
    q, k, v = (split_heads(x, n_heads) for x in (both @ w_q, h @ w_k, h @ w_v))
    mask = torch.cat([content_mask, query_mask], dim=0)
    out, _ = scaled_dot_product_attention(q, k, v, mask)
    out = merge_heads(out)
    return out[:, :length], out[:, length:]
