# delta is summed over the keys of the block only, not over all keys (dO . o)
def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    Q, D = q.shape[-2:]
    K = k.shape[-2]
    dq = torch.zeros_like(q, dtype=torch.float32)
    dk = torch.zeros_like(k, dtype=torch.float32)
    dv = torch.zeros_like(v, dtype=torch.float32)
    qf, kf, vf, dof = q.float(), k.float(), v.float(), d_o.float()
    for i in range(0, K, block):
        sl = slice(i, min(i + block, K))
        s = qf @ kf[..., sl, :].transpose(-1, -2) / D ** 0.5
        if causal:
            vis = torch.arange(K)[None, sl] <= torch.arange(Q)[:, None] + (K - Q)
            s = s.masked_fill(~vis, float('-inf'))
        P = torch.exp(s - lse.float().unsqueeze(-1))
        dP = dof @ vf[..., sl, :].transpose(-1, -2)
        delta = (P * dP).sum(-1, keepdim=True)
        dS = P * (dP - delta) / D ** 0.5
        dq += dS @ kf[..., sl, :]
        dk[..., sl, :] = dS.transpose(-1, -2) @ qf
        dv[..., sl, :] = P.transpose(-1, -2) @ dof
    return dq.to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)
