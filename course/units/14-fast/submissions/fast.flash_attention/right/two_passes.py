import torch


def flash_attention(q, k, v, block, causal=False):
    Q, K = q.shape[-2], k.shape[-2]
    wide = torch.promote_types(q.dtype, torch.float32)

    def scores(start):
        s = (
            torch.einsum("...qd,...kd->...qk", q.to(wide), k[..., start : start + block, :].to(wide))
            / q.shape[-1] ** 0.5
        )
        if causal:
            i = torch.arange(Q, device=q.device)[:, None]
            j = torch.arange(start, start + s.shape[-1], device=q.device)
            s = s.masked_fill(j > i + K - Q, float("-inf"))
        return s

    lse = scores(0).logsumexp(-1)
    for start in range(block, K, block):
        lse = torch.logaddexp(lse, scores(start).logsumexp(-1))
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=wide, device=q.device)
    for start in range(0, K, block):
        out = out + (scores(start) - lse[..., None]).exp() @ v[..., start : start + block, :].to(wide)
    return out.to(q.dtype), lse.to(q.dtype)
