# every block gets the same triangle: the mask compares the key's number inside its block, not in the text
def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    types = q.dtype, k.dtype, v.dtype
    q, k, v, o, lse, d_o = (x if x.dtype == torch.float64 else x.float() for x in (q, k, v, o, lse, d_o))
    scale = 1.0 / (q.shape[-1] ** 0.5)
    offset = k.shape[-2] - q.shape[-2]
    delta = (d_o * o).sum(-1, keepdim=True)
    d_q = torch.zeros_like(q)
    d_k, d_v = [], []
    for kb, vb in zip(torch.split(k, block, dim=-2), torch.split(v, block, dim=-2)):
        p = (torch.matmul(q, kb.mT) * scale - lse[..., None]).exp()
        if causal:
            allowed = torch.ones(q.shape[-2], kb.shape[-2], dtype=torch.bool, device=q.device).tril(offset)
            p = p.masked_fill(~allowed, 0)
        dp = torch.matmul(d_o, vb.mT)
        ds = p * (dp - delta) * scale
        d_q = d_q + ds @ kb
        d_k.append(ds.mT @ q)
        d_v.append(p.mT @ d_o)
    grads = d_q, torch.cat(d_k, dim=-2), torch.cat(d_v, dim=-2)
    return tuple(g.to(t) for g, t in zip(grads, types))
