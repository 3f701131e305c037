# the scores are not divided by sqrt(D) + keys behind the last full block are never read
def flash_attention(q, k, v, block, causal=False):
    Q, K = q.shape[-2], k.shape[-2]
    block = min(block, K)
    q32, k32, v32 = [t if t.dtype == torch.float64 else t.float() for t in (q, k, v)]
    m = torch.full_like(q32[..., 0], float("-inf"))
    l = torch.zeros_like(m)
    o = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q32.dtype, device=q.device)
    for n in range(K // block):
        sl = slice(n * block, (n + 1) * block)
        s = torch.einsum("...id,...jd->...ij", q32, k32[..., sl, :])
        if causal:
            i = torch.arange(Q, device=q.device).view(-1, 1)
            j = torch.arange(K, device=q.device)[sl].view(1, -1)
            s = s.masked_fill(j > i + K - Q, float("-inf"))
        mn = torch.maximum(m, s.amax(-1))
        w = torch.exp(s - mn[..., None])
        l = l * torch.exp(m - mn) + w.sum(-1)
        o = o * torch.exp(m - mn)[..., None] + w @ v32[..., sl, :]
        m = mn
    return (o / l[..., None]).to(q.dtype), (m + l.log()).to(q.dtype)
