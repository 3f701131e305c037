# style: no running maximum, the running log-sum-exp and a normalised output are merged block by block with logaddexp
def flash_attention(q, k, v, block, causal=False):
    acc = torch.float64 if q.dtype == torch.float64 else torch.float32
    Q, D = q.shape[-2:]
    K = k.shape[-2]
    qq = q.to(acc) * D ** -0.5
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=acc, device=q.device)
    lse = torch.full(q.shape[:-1], -1e30, dtype=acc, device=q.device)
    last_seen = torch.arange(Q, device=q.device) + K - Q
    for a in range(0, K, block):
        kb = k[..., a:a + block, :].to(acc)
        vb = v[..., a:a + block, :].to(acc)
        s = torch.einsum("...qd,...kd->...qk", qq, kb)
        if causal:
            j = torch.arange(a, a + kb.shape[-2], device=q.device)
            s = s.masked_fill(j[None, :] > last_seen[:, None], -1e30)
        new = torch.logaddexp(lse, s.logsumexp(-1))
        out = out * (lse - new).exp()[..., None] + (s - new[..., None]).exp() @ vb
        lse = new
    return out.to(q.dtype), lse.to(q.dtype)
