import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        width = query.shape[-1] // self.n_heads
        q = self.q_proj(query).reshape(*query.shape[:2], self.n_heads, width)
        k = self.k_proj(key).reshape(*key.shape[:2], self.n_heads, width)
        v = self.v_proj(value).reshape(*value.shape[:2], self.n_heads, width)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * width**-0.5
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            empty = (~mask).all(dim=-1, keepdim=True)
            weights = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0).softmax(dim=-1)
            weights = weights.masked_fill(empty, 0.0)
        output = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.o_proj(output), weights
