# dS is not divided by sqrt(D) + delta is not subtracted
def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    D = q.shape[-1]
    nq, nk = q.shape[-2], k.shape[-2]
    dq = torch.zeros(q.shape)
    dk_list, dv_list = [], []
    for b in torch.arange(nk, device=q.device).split(block):
        kb, vb = k[..., b, :].float(), v[..., b, :].float()
        s = q.float() @ kb.mT / (D ** 0.5)
        if causal:
            s = s.masked_fill(b[None] > torch.arange(nq, device=q.device)[:, None] + nk - nq, -float("inf"))
        p = (s - lse.float()[..., None]).exp()
        dp = d_o.float() @ vb.mT
        ds = p * dp
        dq = dq + ds @ kb
        dk_list.append(ds.mT @ q.float())
        dv_list.append(p.mT @ d_o.float())
    return dq.to(q.dtype), torch.cat(dk_list, -2).to(k.dtype), torch.cat(dv_list, -2).to(v.dtype)
