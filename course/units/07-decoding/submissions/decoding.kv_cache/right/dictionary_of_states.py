import torch
from tfkit.nn import merge_heads, scaled_dot_product_attention, split_heads
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
        q = split_heads(self.q_proj(x), self.n_heads)
        k = split_heads(self.k_proj(x), self.n_heads)
        v = split_heads(self.v_proj(x), self.n_heads)
        past = 0
        if cache is not None:
            past = cache["keys"].size(2)
            k = torch.cat((cache["keys"], k), dim=-2)
            v = torch.cat((cache["values"], v), dim=-2)
        queries = torch.arange(past, past + x.size(1), device=x.device)
        mask = torch.arange(k.size(2), device=x.device)[None, :] <= queries[:, None]
        output, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.o_proj(merge_heads(output)), {"keys": k, "values": v}
