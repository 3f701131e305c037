"""You join the three projections into one matrix, once, and keep it: training changes the projections, not what you kept of them."""

import math

import torch
from torch import nn


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~mask, lowest), dim=-1).masked_fill(~mask, 0.0)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.joined = None

    def forward(self, query, key, value, mask=None):
        if self.joined is None:
            parts = [self.q_proj, self.k_proj, self.v_proj]
            self.joined = torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])
        weights, biases = self.joined
        rows = zip((query, key, value), weights.chunk(3), biases.chunk(3))
        q, k, v = (split(nn.functional.linear(x, w, b), self.n_heads) for x, w, b in rows)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = masked_softmax(scores, mask)
        output = (weights @ v).transpose(1, 2).flatten(2)
        return self.o_proj(output), weights
