import torch


def flash_attention(q, k, v, block, causal=False):
    queries, keys = q.shape[-2], k.shape[-2]
    out, lse = None, None
    for start in range(0, keys, block):
        stop = min(start + block, keys)
        scores = (q @ k[..., start:stop, :].mT) / q.shape[-1] ** 0.5
        if causal:
            i = torch.arange(queries)[:, None] + keys - queries
            j = torch.arange(start, stop)[None]
            scores = torch.where(j <= i, scores, torch.full_like(scores, -1e30))
        one = torch.logsumexp(scores, -1)
        o = torch.exp(scores - one[..., None]) @ v[..., start:stop, :]
        if out is None:
            out, lse = o, one
        else:
            both = torch.logaddexp(lse, one)
            out = out * torch.exp(lse - both)[..., None] + o * torch.exp(one - both)[..., None]
            lse = both
    return out, lse
