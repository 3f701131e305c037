import torch


def flash_backward(q, k, v, o, lse, d_o, block, causal=False):
    dtype, wide = q.dtype, torch.promote_types(q.dtype, torch.float32)
    q, k, v, o, lse, d_o = (given.to(wide) for given in (q, k, v, o, lse.unsqueeze(-1), d_o))
    scale = q.size(-1) ** -0.5
    places = torch.arange(k.size(-2), device=q.device)
    last = places[-q.size(-2) :, None]
    delta = (d_o * o).sum(-1, keepdim=True)
    d_q, d_k, d_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for start in range(0, k.size(-2), block):
        part = slice(start, start + block)
        scores = q @ k[..., part, :].transpose(-2, -1) * scale
        weights = (scores - lse).exp()
        if causal:
            weights = weights.masked_fill(places[part] > last, 0.0)
        d_v[..., part, :] = weights.transpose(-2, -1) @ d_o
        d_weights = d_o @ v[..., part, :].transpose(-2, -1)
        d_scores = weights * (d_weights - delta) * scale
        d_k[..., part, :] = d_scores.transpose(-2, -1) @ q
        d_q = d_q + d_scores @ k[..., part, :]
    return d_q.to(dtype), d_k.to(dtype), d_v.to(dtype)
