"""A byte-level language model made of your own parts: what each unit builds is added, or takes another part's place.

`ByteLanguageModel(parts, unit)` takes the parts of the units up to `unit` from the module `parts`, such as `my_model`.
Its tokens are the bytes of a text, so that its loss divided by log 2 is in bits per byte.
`python -m course.my_model` writes the copy in `my_model/` anew.
"""

from __future__ import annotations

import math

import torch
from torch import nn

BYTES = 256


class ByteLanguageModel(nn.Module):
    """Logits [B,L,256] for the next byte from bytes [B,L]; position t has seen the bytes up to t."""

    def __init__(self, parts, unit, width=64, heads=4, layers=2):
        super().__init__()
        self.parts, self.unit, self.width = parts, unit, width
        self.embed = nn.Embedding(BYTES, width)
        nn.init.normal_(self.embed.weight, std=width**-0.5)
        if unit >= 13:
            self.body = nn.ModuleList(LlamaBlock(parts, width, heads) for _ in range(layers))
            self.gain = nn.Parameter(torch.ones(width))
        elif unit >= 5:
            self.body = nn.ModuleList(parts.EncoderLayer(width, heads, 4 * width) for _ in range(layers))
        elif unit >= 3:
            self.attention = parts.MultiHeadAttention(width, heads)
        if unit < 4:  # with positions the recurrence can go
            self.w_x, self.w_h = (nn.Parameter(torch.randn(width, width) / math.sqrt(2 * width)) for _ in range(2))
            self.b = nn.Parameter(torch.zeros(width))
        self.out = nn.Linear(2 * width if unit == 2 else width, BYTES)

    def forward(self, ids):  # [B,L]
        x = self.embed(ids)  # [B,L,E]
        if self.unit >= 13:
            return self.out(self._through_llama_blocks(x))
        if self.unit >= 4:
            positions = self.parts.sinusoidal_positions(ids.size(1), self.width)
            x = math.sqrt(self.width) * x + positions.to(x)
        else:
            x = self.parts.rnn_encode(x, self.w_x, self.w_h, self.b)
        if self.unit >= 5:
            mask = self.parts.causal_mask(ids.size(1))
            for block in self.body:
                x = block(x, mask)
            return self.out(x)
        return self.out(self._attended(x))

    def _attended(self, x):
        """[B,L,E], or [B,L,2E] where the state and what it attended to stand side by side."""
        if self.unit == 1:
            return x
        mask = self.parts.causal_mask(x.size(1))
        if self.unit == 2:
            context, _ = self.parts.scaled_dot_product_attention(x, x, x, mask)
            return torch.cat([x, context], -1)
        return x + self.attention(x, x, x, mask)[0]

    def _through_llama_blocks(self, x):
        mask = self.parts.causal_mask(x.size(1))
        for block in self.body:
            x = block(x, mask)
        return self.parts.rms_norm(x, self.gain)


class LlamaBlock(nn.Module):
    """Unit 13: a layer as in Llama (Touvron et al. 2023): an RMS norm before each part, rotary positions, and SwiGLU.

    x [B,L,E], mask bool [L,L], True where attention is allowed -> [B,L,E]
    """

    def __init__(self, parts, width, heads):
        super().__init__()
        self.parts, self.heads = parts, heads
        self.before_attention, self.before_ff = (nn.Parameter(torch.ones(width)) for _ in range(2))
        self.qkv, self.o_proj = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.ff = parts.SwiGLU(width, 8 * width // 3)

    def forward(self, x, mask):
        parts, positions = self.parts, torch.arange(x.size(1), device=x.device)
        q, k, v = (
            parts.split_heads(one, self.heads)
            for one in self.qkv(parts.rms_norm(x, self.before_attention)).chunk(3, dim=-1)
        )  # each [B,H,L,D]
        q, k = parts.apply_rotary_halves(q, positions), parts.apply_rotary_halves(k, positions)
        x = x + self.o_proj(parts.merge_heads(parts.scaled_dot_product_attention(q, k, v, mask)[0]))
        return x + self.ff(parts.rms_norm(x, self.before_ff))
