# dS without the root of D + K // block blocks, so that a shorter last block gets no gradient
def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    Q, D = q.shape[-2], q.shape[-1]
    K = k.shape[-2]
    grads = {"q": torch.zeros_like(q), "k": torch.zeros_like(k), "v": torch.zeros_like(v)}
    delta = (d_o * o).sum(dim=-1)
    for n in range(K // block):
        a, b = n * block, (n + 1) * block
        K_j, V_j = k[..., a:b, :], v[..., a:b, :]
        S = (q @ K_j.transpose(-2, -1)) / D ** 0.5
        P = torch.exp(S - lse.unsqueeze(-1))
        if causal:
            keep = torch.arange(a, b)[None, :] <= torch.arange(K - Q, K)[:, None]
            P = torch.where(keep, P, 0.0)
        dP = d_o @ V_j.transpose(-2, -1)
        dS = P * (dP - delta.unsqueeze(-1))
        grads["v"][..., a:b, :] += P.transpose(-2, -1) @ d_o
        grads["k"][..., a:b, :] += dS.transpose(-2, -1) @ q
        grads["q"] += dS @ K_j
    return grads["q"], grads["k"], grads["v"]
