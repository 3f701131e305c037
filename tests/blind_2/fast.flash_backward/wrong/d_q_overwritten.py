# d_q is overwritten by each block instead of summed over the blocks
def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    t = torch.promote_types(q.dtype, torch.float32)
    n, m = q.size(-2), k.size(-2)
    scale = 1 / q.size(-1) ** 0.5
    delta = (d_o.to(t) * o.to(t)).sum(-1, keepdim=True)
    d_k, d_v = [], []
    for start in range(0, m, block):
        kk = k[..., start : start + block, :].to(t)
        vv = v[..., start : start + block, :].to(t)
        p = torch.exp(q.to(t) @ kk.mT * scale - lse.to(t)[..., None])
        if causal:
            allowed = torch.ones(n, m, dtype=torch.bool, device=q.device).tril(m - n)
            p = p * allowed[:, start : start + block]
        ds = p * (d_o.to(t) @ vv.mT - delta) * scale
        d_q = ds @ kk
        d_k.append(ds.mT @ q.to(t))
        d_v.append(p.mT @ d_o.to(t))
    return d_q.to(q.dtype), torch.cat(d_k, dim=-2).to(k.dtype), torch.cat(d_v, dim=-2).to(v.dtype)
