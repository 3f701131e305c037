from dataclasses import dataclass

import torch
from tfkit.nn import merge_heads, scaled_dot_product_attention, split_heads
from torch import nn


@dataclass
class Cache:
    keys: torch.Tensor
    values: torch.Tensor
    length: int


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (split_heads(p(x), self.n_heads) for p in (self.q_proj, self.k_proj, self.v_proj))
        past = 0 if cache is None else cache.length
        if cache is not None:
            k, v = torch.cat((cache.keys, k), dim=-2), torch.cat((cache.values, v), dim=-2)
        queries = torch.arange(past, past + x.size(1), device=x.device)
        mask = torch.arange(k.size(2), device=x.device)[None, :] <= queries[:, None]
        output, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(merge_heads(output)), Cache(k, v, k.size(2))
