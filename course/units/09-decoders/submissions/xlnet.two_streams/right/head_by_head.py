import math

import torch


def two_stream_attention(h, g, w_q, w_k, w_v, content_mask, query_mask, n_heads):
    streams = []
    for states, mask in ((h, content_mask), (g, query_mask)):
        heads = []
        for q, k, v in zip(
            (states @ w_q).chunk(n_heads, -1), (h @ w_k).chunk(n_heads, -1), (h @ w_v).chunk(n_heads, -1)
        ):
            scores = torch.einsum("bid,bjd->bij", q, k) / math.sqrt(q.size(-1))
            top = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).clamp(min=-1e30).detach()
            shares = torch.exp((scores - top).masked_fill(~mask, 0.0)) * mask
            total = shares.sum(-1, keepdim=True)
            heads.append(shares @ v / torch.where(total > 0, total, torch.ones_like(total)))
        streams.append(torch.cat(heads, dim=-1))
    return tuple(streams)
