import torch


def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    d_q, d_k, d_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    scale = q.shape[-1] ** -0.5
    delta = (d_o * o).sum(-1)
    for j in range(k.shape[-2]):
        first = max(0, j - k.shape[-2] + q.shape[-2]) if causal else 0
        rows = (..., slice(first, None), slice(None))
        p = torch.exp((q[rows] * k[..., j : j + 1, :]).sum(-1) * scale - lse[..., first:])
        d_v[..., j, :] = (p[..., None] * d_o[rows]).sum(-2)
        ds = p * ((d_o[rows] * v[..., j : j + 1, :]).sum(-1) - delta[..., first:]) * scale
        d_k[..., j, :] = (ds[..., None] * q[rows]).sum(-2)
        d_q[rows] += ds[..., None] * k[..., j : j + 1, :]
    return d_q, d_k, d_v
