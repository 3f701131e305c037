# works with transposed blocks (keys by queries), key and value gradients as lists that are joined; float32 or better inside
def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    inner = torch.promote_types(q.dtype, torch.float32)
    qf, kf, vf, of, gf = (t.to(inner) for t in (q, k, v, o, d_o))
    lse_row = lse.to(inner).unsqueeze(-2)                       # [...,1,Q]
    scale = qf.shape[-1] ** -0.5
    n_q, n_k = q.shape[-2], k.shape[-2]
    delta_row = torch.einsum("...qd,...qd->...q", gf, of).unsqueeze(-2)
    query_at = torch.arange(n_k - n_q, n_k, device=q.device)    # the queries are the last positions
    d_q = torch.zeros_like(qf)
    d_ks, d_vs = [], []
    for k_blk, v_blk, at in zip(kf.split(block, -2), vf.split(block, -2),
                                torch.arange(n_k, device=q.device).split(block)):
        p = torch.exp(scale * (k_blk @ qf.mT) - lse_row)        # [...,block,Q]
        if causal:
            p = torch.where(at[:, None] <= query_at[None, :], p, torch.zeros_like(p))
        d_p = v_blk @ gf.mT
        d_s = scale * p * (d_p - delta_row)
        d_vs.append(p @ gf)
        d_ks.append(d_s @ qf)
        d_q = d_q + d_s.mT @ k_blk
    return d_q.to(q.dtype), torch.cat(d_ks, -2).to(k.dtype), torch.cat(d_vs, -2).to(v.dtype)
