# causal compares j <= i without K - Q, the queries are taken for the first positions
def flash_attention(q, k, v, block, causal=False):
    wide = torch.float32 if q.dtype in (torch.float16, torch.bfloat16) else q.dtype
    scale = 1 / q.shape[-1] ** 0.5
    m = torch.full(q.shape[:-1], -torch.inf, dtype=wide, device=q.device)
    l = torch.zeros(q.shape[:-1], dtype=wide, device=q.device)
    acc = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=wide, device=q.device)
    j0 = 0
    for kb, vb in zip(k.split(block, -2), v.split(block, -2)):
        s = (q.to(wide) @ kb.to(wide).mT) * scale
        if causal:
            i = torch.arange(q.shape[-2], device=q.device)
            j = torch.arange(kb.shape[-2], device=q.device) + j0
            s = torch.where(j[None] <= i[:, None], s, -torch.inf)
        j0 += kb.shape[-2]
        m_new = torch.maximum(m, s.amax(-1))
        factor = torch.exp(m - m_new)
        p = torch.exp(s - m_new.unsqueeze(-1))
        l = factor * l + p.sum(-1)
        acc = factor.unsqueeze(-1) * acc + p @ vb.to(wide)
        m = m_new
    return (acc / l.unsqueeze(-1)).to(q.dtype), (m + torch.log(l)).to(q.dtype)
