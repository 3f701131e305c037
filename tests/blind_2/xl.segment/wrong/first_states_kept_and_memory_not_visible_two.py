# the new memory is the first memory_length states, not the last + the memory gets a triangle as well: the mask is not moved by M
def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    H, D = u.shape
    L = x.shape[1]
    ctx = torch.cat([memory.detach(), x], dim=1)
    K = ctx.shape[1]
    q = split_heads(x @ w_q, H) 
    k = split_heads(ctx @ w_k, H)
    vals = split_heads(ctx @ w_v, H)
    r = split_heads((position_encodings @ w_r)[None], H).squeeze(0)
    ac = torch.einsum("bhqd,bhkd->bhqk", q + u[:, None, :], k)
    bd = relative_shift(torch.einsum("bhqd,hkd->bhqk", q + v[:, None, :], r))
    w = masked_softmax((ac + bd) / math.sqrt(D), torch.ones(L, K, dtype=torch.bool).tril())
    return merge_heads(w @ vals), ctx[:, :memory_length].detach()
