# the encodings of the distances go through w_k instead of w_r
def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    B, L, E = x.shape
    H, D = u.shape
    M = memory.shape[1]
    ctx = torch.cat([memory.detach(), x], 1)

    def heads(t):
        return t.reshape(*t.shape[:-1], H, D).transpose(-2, -3)

    q, k, vv, r = heads(x @ w_q), heads(ctx @ w_k), heads(ctx @ w_v), heads(position_encodings @ w_k)
    a = (q + u.unsqueeze(1)) @ k.transpose(-1, -2)
    b = relative_shift((q + v.unsqueeze(1)) @ r.transpose(-1, -2))
    s = (a + b) / math.sqrt(D)
    hidden = torch.triu(torch.ones(L, M + L, dtype=torch.bool), diagonal=M + 1)
    p = torch.softmax(s.masked_fill(hidden, float("-inf")), -1)
    o = (p @ vv).transpose(1, 2).reshape(B, L, E)
    n = ctx.shape[1]
    return o, ctx[:, max(0, n - memory_length):].detach()
