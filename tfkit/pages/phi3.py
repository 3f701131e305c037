"""Phi-3 mini (Abdin et al. 2024, arXiv:2404.14219): a small model, trained on filtered and synthetic text.

Adds to Llama: one matrix for queries, keys and values, and one for the two halves of the feed-forward network (gate and
up); a token attends to itself and to the window - 1 tokens before it. The mini model has as many key-value heads as
query heads. Left out: the scaling of RoPE for texts of 128k tokens (LongRoPE), which is in tfkit.nn.rope.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 32064
    d_model: int = 3072
    n_layers: int = 32
    n_heads: int = 32
    d_ff: int = 8192
    window: int = 2047
    rope_theta: float = 10000.0
    eps: float = 1e-5
    pad_token_id: int = 32000


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """[...,width] -> [...,width]"""
        root_mean_square = (x.square().mean(-1, keepdim=True) + self.eps).sqrt()  # [...,1]
        return self.weight * (x / root_mean_square)


def rotate(x: Tensor, theta: float) -> Tensor:
    """[B,H,L,D]: rotate the pairs of columns (i, i + D/2) by angles that grow with the position -> [B,H,L,D]

    The product of a rotated query and a rotated key depends on the distance between the two, and not on where they are.
    """
    position = torch.arange(x.size(2), dtype=torch.float64)[:, None]  # [L,1]
    frequency = theta ** (-torch.arange(0, x.size(3), 2, dtype=torch.float64) / x.size(3))  # [D/2]
    cos, sin = (position * frequency).cos().to(x.dtype), (position * frequency).sin().to(x.dtype)  # [L,D/2]
    first, second = x.chunk(2, dim=-1)  # [B,H,L,D/2]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)  # [B,H,L,D]


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads, self.window, self.rope_theta = c.n_heads, c.window, c.rope_theta
        self.qkv_proj = nn.Linear(c.d_model, 3 * c.d_model, bias=False)
        self.o_proj = nn.Linear(c.d_model, c.d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        q, k, v = self.qkv_proj(x).chunk(3, dim=-1)  # [B,L,E]
        q = rotate(self.split_heads(q), self.rope_theta)  # [B,H,L,D]
        k = rotate(self.split_heads(k), self.rope_theta)  # [B,H,L,D]
        v = self.split_heads(v)  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        position = torch.arange(x.size(1))
        distance = position[:, None] - position  # [L,L], query - key
        mask = (distance >= 0) & (distance < self.window)  # [L,L], True for the token and the window - 1 before it
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,L,L], each row sums to 1
        output = weights @ v  # [B,H,L,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.gate_up = nn.Linear(c.d_model, 2 * c.d_ff, bias=False)
        self.down = nn.Linear(c.d_ff, c.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        gate, up = self.gate_up(x).chunk(2, dim=-1)  # [B,L,d_ff]
        return self.down(F.silu(gate) * up)


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.norm1 = RMSNorm(c.d_model, c.eps)
        self.attn = Attention(c)
        self.norm2 = RMSNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x))  # [B,L,E]
        return x + self.ff(self.norm2(x))


class Phi3(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.norm = RMSNorm(c.d_model, c.eps)
        self.lm_head = nn.Linear(c.d_model, c.vocab_size, bias=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token that comes after each"""
        x = self.embed(input_ids)  # [B,L,E]
        for layer in self.layers:
            x = layer(x)  # [B,L,E]
        return self.lm_head(self.norm(x))  # [B,L,V]

    @torch.no_grad()
    def generate(self, input_ids: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids [B,L] -> [B,L+max_new_tokens]: greedy decoding"""
        for _ in range(max_new_tokens):
            next_id = self(input_ids)[:, -1].argmax(-1, keepdim=True)  # [B,1]
            input_ids = torch.cat([input_ids, next_id], dim=1)  # [B,L+1]
        return input_ids


MODEL = Phi3
