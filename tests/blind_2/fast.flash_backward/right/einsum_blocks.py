# style: einsum for every product, gradients of the blocks concatenated at the end
def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    wide = torch.promote_types(q.dtype, torch.float32)
    qw, ow, dow = q.to(wide), o.to(wide), d_o.to(wide)
    norm = q.shape[-1] ** -0.5
    offset = k.shape[-2] - q.shape[-2]
    delta = torch.einsum("...qd,...qd->...q", dow, ow)

    dq = torch.zeros_like(qw)
    dks, dvs = [], []
    first = 0
    for kb, vb in zip(k.split(block, dim=-2), v.split(block, dim=-2)):
        kb, vb = kb.to(wide), vb.to(wide)
        s = torch.einsum("...qd,...kd->...qk", qw, kb) * norm
        p = torch.exp(s - lse.to(wide)[..., None])
        if causal:
            i = torch.arange(q.shape[-2], device=q.device).view(-1, 1)
            j = torch.arange(first, first + kb.shape[-2], device=q.device).view(1, -1)
            p = torch.where(j <= i + offset, p, p.new_zeros(()))
        dp = torch.einsum("...qv,...kv->...qk", dow, vb)
        ds = p * (dp - delta[..., None]) * norm
        dvs.append(torch.einsum("...qk,...qv->...kv", p, dow))
        dks.append(torch.einsum("...qk,...qd->...kd", ds, qw))
        dq += torch.einsum("...qk,...kd->...qd", ds, kb)
        first += kb.shape[-2]
    return dq.to(q.dtype), torch.cat(dks, -2).to(k.dtype), torch.cat(dvs, -2).to(v.dtype)
