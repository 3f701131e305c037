# the scores are not divided by sqrt(D) + lse is log of the sum without adding the maximum back
def flash_attention(q, k, v, block, causal=False):
    out_dtype = q.dtype
    if out_dtype != torch.float64:
        q, k, v = q.float(), k.float(), v.float()
    Q, K = q.shape[-2], k.shape[-2]
    m = torch.full_like(q[..., 0], -float("inf"))
    ell = torch.zeros_like(m)
    a = torch.zeros_like(q[..., :1]) * v[..., :1, :]
    for j0 in range(0, K, block):
        kj, vj = k[..., j0:j0 + block, :], v[..., j0:j0 + block, :]
        s = torch.einsum("...qd,...kd->...qk", q, kj)
        if causal:
            for i in range(Q):
                first_hidden = max(i + K - Q + 1 - j0, 0)
                s[..., i, first_hidden:] = -float("inf")
        m_new = torch.maximum(m, s.max(-1)[0])
        alpha = torch.exp(m - m_new)
        p = torch.exp(s - m_new.unsqueeze(-1))
        ell = alpha * ell + p.sum(-1)
        a = alpha.unsqueeze(-1) * a + torch.einsum("...qk,...kv->...qv", p, vj)
        m = m_new
    return (a / ell.unsqueeze(-1)).to(out_dtype), torch.log(ell).to(out_dtype)
