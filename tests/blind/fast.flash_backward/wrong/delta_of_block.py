# delta is summed over the keys of the block only, not over all keys (or as d_o . o)
def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    dtype = q.dtype
    if dtype != torch.float64:
        q, k, v, d_o, lse = q.float(), k.float(), v.float(), d_o.float(), lse.float()
    D = q.size(-1)
    Q, K = q.size(-2), k.size(-2)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for start in range(0, K, block):
        stop = min(start + block, K)
        kj, vj = k[..., start:stop, :], v[..., start:stop, :]
        s = q @ kj.transpose(-1, -2) / D ** 0.5
        if causal:
            rows = torch.arange(Q, device=q.device).unsqueeze(1) + (K - Q)
            cols = torch.arange(start, stop, device=q.device).unsqueeze(0)
            s = s.masked_fill(cols > rows, float("-inf"))
        p = torch.exp(s - lse.unsqueeze(-1))
        dp = d_o @ vj.transpose(-1, -2)
        delta = (p * dp).sum(dim=-1, keepdim=True)
        ds = p * (dp - delta) / D ** 0.5
        dv[..., start:stop, :] = p.transpose(-1, -2) @ d_o
        dk[..., start:stop, :] = ds.transpose(-1, -2) @ q
        dq += ds @ kj
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
