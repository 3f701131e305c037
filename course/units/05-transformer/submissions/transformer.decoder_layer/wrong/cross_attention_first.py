"""You look at the source before looking at the target's own words: the two attentions are in the wrong order.

First the decoder finds out what it has said so far, then it asks the source."""

import torch.nn.functional as F
from tfkit.nn import MultiHeadAttention
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.down(F.relu(self.up(x)))


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.cross_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.norm2(x + self.cross_attn(x, memory, memory, memory_mask)[0])
        x = self.norm1(x + self.self_attn(x, x, x, self_mask)[0])
        return self.norm3(x + self.ff(x))
