import torch


def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    def one_head(q, k, v, o, lse, d_o):
        Q, K, scale = len(q), len(k), q.shape[-1] ** -0.5
        delta = torch.einsum("qd,qd->q", d_o, o)
        i = torch.arange(K - Q, K, device=q.device)
        d_q, d_k, d_v = torch.zeros_like(q), [], []
        for start in range(0, K, block):
            kj, vj = k[start : start + block], v[start : start + block]
            P = torch.exp(torch.einsum("qd,kd->qk", q, kj) * scale - lse[:, None])
            if causal:
                P = torch.where(torch.arange(start, start + len(kj), device=q.device) <= i[:, None], P, 0.0)
            dS = P * (torch.einsum("qd,kd->qk", d_o, vj) - delta[:, None]) * scale
            d_q += torch.einsum("qk,kd->qd", dS, kj)
            d_k.append(torch.einsum("qk,qd->kd", dS, q))
            d_v.append(torch.einsum("qk,qd->kd", P, d_o))
        return d_q, torch.cat(d_k), torch.cat(d_v)

    given = [part.double() for part in (q, k, v, o, d_o)]
    heads = [part.reshape(-1, *part.shape[-2:]) for part in given]
    rows = lse.double().reshape(-1, lse.shape[-1])
    found = [one_head(*head[:4], row, head[4]) for *head, row in zip(*heads, rows, strict=True)]
    return tuple(
        torch.stack(parts).reshape(given.shape).to(given.dtype)
        for given, parts in zip((q, k, v), zip(*found, strict=True), strict=True)
    )
