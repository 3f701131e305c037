import torch


def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    Q, K, scale = q.size(-2), k.size(-2), q.size(-1) ** -0.5
    mean = torch.einsum("...qd,...qd->...q", d_o, o)
    d_q, d_k, d_v = 0, [], []
    for kj, vj, j in zip(k.split(block, -2), v.split(block, -2), torch.arange(K, device=q.device).split(block)):
        S = torch.einsum("...qd,...kd->...qk", q, kj) * scale
        if causal:
            S = S.masked_fill(j > torch.arange(K - Q, K, device=q.device)[:, None], float("-inf"))
        P = torch.exp(S - lse[..., None])
        dP = torch.einsum("...qd,...kd->...qk", d_o, vj)
        dS = P * (dP - mean[..., None])
        d_q = d_q + torch.einsum("...qk,...kd->...qd", dS, kj) * scale
        d_k.append(torch.einsum("...qk,...qd->...kd", dS, q) * scale)
        d_v.append(torch.einsum("...qk,...qd->...kd", P, d_o))
    return d_q, torch.cat(d_k, -2), torch.cat(d_v, -2)
