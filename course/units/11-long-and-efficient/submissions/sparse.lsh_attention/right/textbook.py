import math

import torch


def lsh_attention(qk, v, buckets):
    B, L, D = qk.shape
    keys = torch.nn.functional.normalize(qk, dim=-1)
    scores = qk @ keys.transpose(1, 2) / math.sqrt(D)
    i = torch.arange(L, device=qk.device)
    allowed = (buckets.unsqueeze(2) == buckets.unsqueeze(1)) & (i[None, :] < i[:, None])
    nothing = ~allowed.any(dim=-1, keepdim=True)
    allowed = allowed | (nothing & torch.eye(L, dtype=torch.bool, device=qk.device))
    weights = torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)
    return weights @ v
