import math

import torch
from torch import nn


def one_head(q, k, v, mask):
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
    return torch.bmm(weights, v), weights


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
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        if mask is not None:
            mask = mask.expand(query.shape[0], self.n_heads, query.shape[1], key.shape[1])
        outputs, weights = [], []
        for head in range(self.n_heads):
            columns = slice(head * width, (head + 1) * width)
            output, weight = one_head(
                q[..., columns], k[..., columns], v[..., columns], None if mask is None else mask[:, head]
            )
            outputs.append(output)
            weights.append(weight)
        return self.o_proj(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)
