# the lse is log(l) only, the maximum m is not added
def flash_attention(q, k, v, block, causal=False):
    in_type = q.dtype
    if in_type != torch.float64:
        q, k, v = q.float(), k.float(), v.float()
    nq, nk, d = q.size(-2), k.size(-2), q.size(-1)
    biggest = q.new_full(q.shape[:-1], -1e30)
    total = q.new_zeros(q.shape[:-1])
    values = q.new_zeros(*q.shape[:-1], v.size(-1))
    for b in range((nk + block - 1) // block):
        lo, hi = b * block, min(nk, (b + 1) * block)
        scores = torch.matmul(q, k[..., lo:hi, :].transpose(-2, -1)) / d ** 0.5
        if causal:
            ok = torch.ones(nq, nk, dtype=torch.bool, device=q.device).tril(nk - nq)[:, lo:hi]
            scores = scores.masked_fill(~ok, -1e30)
        new = torch.max(biggest, scores.max(dim=-1)[0])
        r = torch.exp(biggest - new)
        e = torch.exp(scores - new[..., None])
        total = total * r + e.sum(-1)
        values = values * r[..., None] + torch.matmul(e, v[..., lo:hi, :])
        biggest = new
    out = values / total[..., None]
    lse = total.log()
    return out.to(in_type), lse.to(in_type)
