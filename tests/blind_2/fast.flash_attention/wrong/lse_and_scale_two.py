# lse is log of the sum without adding the maximum + scores are not divided by sqrt(D)
def flash_attention(q, k, v, block, causal=False):
    orig = q.dtype
    q, k, v = q.float(), k.float(), v.float()
    Q, K = q.shape[-2], k.shape[-2]
    m = torch.full(q.shape[:-1], -float("inf"))
    l = torch.zeros(q.shape[:-1])
    acc = torch.zeros(*q.shape[:-1], v.shape[-1])
    rows = torch.arange(Q)[:, None]
    for j in range(0, K, block):
        kj, vj = k[..., j:j+block, :], v[..., j:j+block, :]
        s = q @ kj.transpose(-1, -2)
        if causal:
            cols = torch.arange(j, j + kj.shape[-2])[None, :]
            s = s.masked_fill(cols > rows + K - Q, -float("inf"))
        m2 = torch.maximum(m, s.amax(-1))
        alpha = torch.exp(m - m2)
        p = torch.exp(s - m2.unsqueeze(-1))
        l = alpha * l + p.sum(-1)
        acc = alpha.unsqueeze(-1) * acc + p @ vj
        m = m2
    out = acc / l.unsqueeze(-1)
    return out.to(orig), l.log().to(orig)
