# the new memory is taken from x alone, not from memory and x together
def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    H = u.size(0)
    memory = memory.detach()
    L, M = x.size(1), memory.size(1)
    h = torch.cat([memory, x], dim=1)
    q = split_heads(x @ w_q, H)
    k = split_heads(h @ w_k, H)
    val = split_heads(h @ w_v, H)
    r = split_heads((position_encodings @ w_r).unsqueeze(0), H)[0]
    scores = _scores(q, k, r, u, v)
    mask = torch.cat([torch.ones(L, M, dtype=torch.bool), causal_mask(L)], dim=-1)
    out = merge_heads(masked_softmax(scores, mask) @ val)
    return out, x[:, -memory_length:].detach()


def _scores(q, k, r, u, v):
    return ((q + u[:, None]) @ k.mT + relative_shift((q + v[:, None]) @ r.mT)) / math.sqrt(q.shape[-1])
