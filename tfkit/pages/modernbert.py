"""ModernBERT (Warner et al. 2024, arXiv:2412.13663): masked language modelling on texts of up to 8192 tokens.

Adds to BERT: rotary positions instead of a table; local attention over a window of 128 tokens in two layers of three,
with faster rotations; pre-norm without biases, with a final norm; no biases in linear layers; a gated feed-forward
network (GeGLU).

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 50368
    d_model: int = 768
    n_layers: int = 22
    n_heads: int = 12
    d_ff: int = 1152
    window: int = 128
    period: int = 3
    rope_theta: float = 160000.0
    local_rope_theta: float = 10000.0
    eps: float = 1e-5
    pad_token_id: int = 50283


def rotate(x: Tensor, base: float) -> Tensor:
    """[B,H,L,D] -> [B,H,L,D]: column i is rotated with column i + D/2, by its position times base^(-2i/D)"""
    half = torch.arange(0, x.size(-1), 2, dtype=x.dtype) / x.size(-1)  # [D/2]
    angles = torch.arange(x.size(2), dtype=x.dtype)[:, None] * base**-half  # [L,D/2]
    first, second = x.chunk(2, dim=-1)  # [B,H,L,D/2]
    cos, sin = angles.cos(), angles.sin()  # [L,D/2]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.norm = nn.LayerNorm(c.d_model, c.eps, bias=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> [B,L,E]"""
        return self.norm(self.tokens(input_ids))


class Attention(nn.Module):
    def __init__(self, c: Config, window: int | None) -> None:
        super().__init__()
        self.n_heads, self.window = c.n_heads, window
        self.base = c.rope_theta if window is None else c.local_rope_theta
        self.q_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.k_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.v_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.o_proj = nn.Linear(c.d_model, c.d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,L], True where a token may be attended to -> [B,L,E]"""
        q = rotate(self.split_heads(self.q_proj(x)), self.base)  # [B,H,L,D]
        k = rotate(self.split_heads(self.k_proj(x)), self.base)  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
        if self.window is not None:
            at = torch.arange(x.size(1))
            mask = mask & ((at[:, None] - at).abs() <= self.window // 2)  # [B,1,L,L], half of it to each side
        scores = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).masked_fill(~mask, float("-inf"))  # [B,H,L,L]
        empty = ~mask.any(-1, keepdim=True)  # [B,1,L or 1,1]: padding that has only padding near it
        weights = scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)  # [B,H,L,L]
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.gate = nn.Linear(c.d_model, c.d_ff, bias=False)
        self.up = nn.Linear(c.d_model, c.d_ff, bias=False)
        self.down = nn.Linear(c.d_ff, c.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.gelu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self, c: Config, index: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(c.d_model, c.eps, bias=False) if index else nn.Identity()  # already normed
        self.attn = Attention(c, c.window if index % c.period else None)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps, bias=False)
        self.ff = FeedForward(c)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,L] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x), mask)  # [B,L,E]
        return x + self.ff(self.norm2(x))


class MaskedLMHead(nn.Module):
    """Predicts the masked tokens."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.dense = nn.Linear(c.d_model, c.d_model, bias=False)
        self.norm = nn.LayerNorm(c.d_model, c.eps, bias=False)
        self.bias = nn.Parameter(torch.zeros(c.vocab_size))

    def forward(self, x: Tensor, embedding: Tensor) -> Tensor:
        """x [B,L,E], embedding [V,E] -> logits [B,L,V]"""
        x = self.norm(F.gelu(self.dense(x)))  # [B,L,E]
        return x @ embedding.T + self.bias  # [B,L,V]


class ModernBERT(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(Layer(c, index) for index in range(c.n_layers))
        self.norm = nn.LayerNorm(c.d_model, c.eps, bias=False)
        self.task_head = MaskedLMHead(c)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """input_ids [B,L], attention_mask [B,L], 1 = a token, 0 = padding -> logits [B,L,V]"""
        mask = attention_mask.bool()[:, None, None]  # [B,1,1,L]
        x = self.embed(input_ids)  # [B,L,E]
        for layer in self.layers:
            x = layer(x, mask)  # [B,L,E]
        return self.task_head(self.norm(x), self.embed.tokens.weight)  # [B,L,V]


MODEL = ModernBERT
