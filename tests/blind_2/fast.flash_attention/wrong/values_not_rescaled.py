# the sum of weights is rescaled with the new maximum, the sum of values is not
def flash_attention(q, k, v, block, causal=False):
    dtype = q.dtype
    q, k, v = (t if t.dtype == torch.float64 else t.float() for t in (q, k, v))
    Q, K, D = q.shape[-2], k.shape[-2], q.shape[-1]
    m = torch.full(q.shape[:-1] + (1,), -1e30, dtype=q.dtype)
    l = torch.zeros_like(m)
    a = torch.zeros(q.shape[:-1] + (v.shape[-1],), dtype=q.dtype)
    for i in range(0, K, block):
        s = q @ k[..., i:i + block, :].transpose(-2, -1) / D ** 0.5
        if causal:
            qi = torch.arange(Q).unsqueeze(1) + K - Q
            kj = torch.arange(i, min(i + block, K)).unsqueeze(0)
            s = s.masked_fill(kj > qi, float('-inf'))
        new_m = torch.max(m, s.max(dim=-1, keepdim=True).values)
        p = torch.exp(s - new_m)
        l = torch.exp(m - new_m) * l + p.sum(-1, keepdim=True)
        a = a + p @ v[..., i:i + block, :]
        m = new_m
    return (a / l).to(dtype), (m + l.log()).squeeze(-1).to(dtype)
