# d_q is assigned in each block instead of added up: only the last block of keys counts
import math


def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    kind = q.dtype
    work = torch.promote_types(kind, torch.float32)
    q, k, v, o, lse, d_o = [z.to(work) for z in (q, k, v, o, lse, d_o)]
    n_q, d = q.shape[-2:]
    n_k = k.shape[-2]
    root = math.sqrt(d)
    delta = torch.einsum("...id,...id->...i", d_o, o)[..., None]
    d_k = torch.empty_like(k)
    d_v = torch.empty_like(v)
    for lo in range(0, n_k, block):
        sl = slice(lo, lo + block)
        p = torch.exp(torch.einsum("...id,...jd->...ij", q, k[..., sl, :]) / root - lse[..., None])
        if causal:
            j = torch.arange(n_k, device=q.device)[sl]
            i = torch.arange(n_q, device=q.device) + n_k - n_q
            p = p.masked_fill(j[None, :] > i[:, None], 0.0)
        dp = torch.einsum("...id,...jd->...ij", d_o, v[..., sl, :])
        ds = p * (dp - delta) / root
        d_q = torch.einsum("...ij,...jd->...id", ds, k[..., sl, :])
        d_k[..., sl, :] = torch.einsum("...ij,...id->...jd", ds, q)
        d_v[..., sl, :] = torch.einsum("...ij,...id->...jd", p, d_o)
    return d_q.to(kind), d_k.to(kind), d_v.to(kind)
