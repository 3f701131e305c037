import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (p(x).unflatten(-1, (self.n_heads, -1)) for p in (self.q_proj, self.k_proj, self.v_proj))
        both = torch.stack([k, v])  # [2,B,L,H,D]
        if cache is not None:
            both = torch.cat([cache, both], dim=2)
        k, v = both
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.size(-1))
        later = torch.ones_like(scores, dtype=torch.bool).triu(k.size(1) - q.size(1) + 1)
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        return self.o_proj(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)), both
