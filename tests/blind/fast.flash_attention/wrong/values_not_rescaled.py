# rescales the sum of weights, but not the sum of weighted values, when the maximum grows
def flash_attention(q, k, v, block, causal=False):
    dt = torch.promote_types(q.dtype, torch.float32)
    Q, K, D = q.shape[-2], k.shape[-2], q.shape[-1]
    q32, k32, v32 = q.to(dt), k.to(dt), v.to(dt)
    m = q32.new_full(q.shape[:-1], float("-inf"))
    l = q32.new_zeros(q.shape[:-1])
    a = q32.new_zeros(q.shape[:-1] + v.shape[-1:])
    for start in range(0, K, block):
        stop = min(start + block, K)
        s = q32 @ k32[..., start:stop, :].transpose(-2, -1) / D ** 0.5
        if causal:
            j = torch.arange(start, stop, device=q.device)
            i = torch.arange(Q, device=q.device)[:, None]
            s = s.masked_fill(j > i + K - Q, float("-inf"))
        m_new = torch.maximum(m, s.amax(dim=-1))
        p = torch.exp(s - m_new[..., None])
        l = torch.exp(m - m_new) * l + p.sum(-1)
        a = a + p @ v32[..., start:stop, :]
        m = m_new
    return (a / l[..., None]).to(q.dtype), (m + l.log()).to(q.dtype)
