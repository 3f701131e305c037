# the sums are not rescaled when the maximum changes
def flash_attention(q, k, v, block, causal=False):
    dt = torch.promote_types(q.dtype, torch.float32)
    qf, kf, vf = q.to(dt), k.to(dt), v.to(dt)
    Q, K = q.shape[-2], k.shape[-2]
    m = torch.full(q.shape[:-1] + (1,), float("-inf"), dtype=dt, device=q.device)
    l = torch.zeros_like(m)
    a = torch.zeros(q.shape[:-1] + (v.shape[-1],), dtype=dt, device=q.device)
    for start in range(0, K, block):
        s = qf @ kf[..., start:start + block, :].transpose(-1, -2) / q.shape[-1] ** 0.5
        if causal:
            rows = torch.arange(Q, device=q.device)[:, None] + K - Q
            cols = torch.arange(start, min(start + block, K), device=q.device)[None]
            s = s.masked_fill(cols > rows, float("-inf"))
        m = torch.maximum(m, s.max(-1, keepdim=True).values)
        p = torch.exp(s - m)
        l = l + p.sum(-1, keepdim=True)
        a = a + p @ vf[..., start:start + block, :]
    return (a / l).to(q.dtype), (m + l.log()).squeeze(-1).to(q.dtype)
