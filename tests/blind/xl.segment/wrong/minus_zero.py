# the slice [-memory_length:] keeps everything when memory_length is 0
def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    batch, length, width = x.shape
    n_heads, d = u.shape
    both = torch.cat((memory, x), 1).detach()
    keys_in = torch.cat((memory.detach(), x), 1)
    total = keys_in.shape[1]
    m = total - length
    causal = torch.ones(length, total, device=x.device).tril(diagonal=m) == 0
    outs = []
    for h in range(n_heads):
        cols = slice(h * d, (h + 1) * d)
        q = x @ w_q[:, cols]
        k = keys_in @ w_k[:, cols]
        val = keys_in @ w_v[:, cols]
        r = position_encodings @ w_r[:, cols]
        content = (q + u[h]) @ k.mT
        pos = (q + v[h]) @ r.T
        pos = torch.stack([torch.roll(pos[:, i], i + 1 - length, dims=-1) for i in range(length)], dim=1)
        s = (content + pos) * d ** -0.5
        s = s.masked_fill(causal, -float("inf"))
        outs.append(F.softmax(s, dim=-1) @ val)
    return torch.cat(outs, dim=-1), both[:, -memory_length:]
