import torch


def flash_attention(q, k, v, block, causal=False):
    scale = q.shape[-1] ** -0.5
    shape = q.shape[:-1]
    m = torch.full(shape, -1e38, dtype=torch.float64)
    s = torch.zeros(shape, dtype=torch.float64)
    acc = torch.zeros(*shape, v.shape[-1], dtype=torch.float64)
    shift = k.shape[-2] - q.shape[-2]
    for start in reversed(range(0, k.shape[-2], block)):
        kb, vb = k[..., start : start + block, :].double(), v[..., start : start + block, :].double()
        scores = torch.einsum("...qd,...kd->...qk", q.double(), kb) * scale
        seen = torch.ones(q.shape[-2], kb.shape[-2], dtype=torch.bool)
        if causal:
            seen = torch.tril(seen, diagonal=shift - start)
        scores = scores.masked_fill(~seen, float("-inf"))
        new = torch.maximum(m, scores.detach().max(-1).values)
        p = torch.exp(scores - new.unsqueeze(-1))
        decay = torch.exp(m - new)
        s = s * decay + p.sum(-1)
        acc = acc * decay.unsqueeze(-1) + torch.einsum("...qk,...kd->...qd", p, vb)
        m = new
    return (acc / s.unsqueeze(-1)).to(q.dtype), (m + torch.log(s)).to(q.dtype)
