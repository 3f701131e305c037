"""Gemma 3, the text model (Gemma team 2025, arXiv:2503.19786).

Adds to Gemma 2: only every sixth layer (period) has no window; for long texts, it rotates queries and keys more slowly
(rope_theta) than the layers with a window do (local_rope_theta); RMSNorm of each head's queries and keys before they
are rotated, in place of soft-capping. Left out: the scaling of RoPE in the sizes above 1B, which is in tfkit.nn.rope,
and the image encoder that those sizes have.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, G = n_kv_heads, D = d_head, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 262144
    d_model: int = 1152
    n_layers: int = 26
    n_heads: int = 4
    n_kv_heads: int = 1
    d_head: int = 256
    d_ff: int = 6912
    window: int = 512
    period: int = 6
    scale_width: float = 256.0
    rope_theta: float = 1e6
    local_rope_theta: float = 10000.0
    eps: float = 1e-6
    pad_token_id: int = 0


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        """[...,width] -> [...,width]"""
        root_mean_square = (x.square().mean(-1, keepdim=True) + self.eps).sqrt()  # [...,1]
        return (1 + self.weight) * (x / root_mean_square)


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
    def __init__(self, c: Config, is_local: bool) -> None:
        super().__init__()
        self.d_head, self.group_size = c.d_head, c.n_heads // c.n_kv_heads
        self.window = c.window if is_local else math.inf
        self.rope_theta = c.local_rope_theta if is_local else c.rope_theta
        self.scale_width = c.scale_width
        self.q_norm = RMSNorm(self.d_head, c.eps)
        self.k_norm = RMSNorm(self.d_head, c.eps)
        self.q_proj = nn.Linear(c.d_model, c.n_heads * self.d_head, bias=False)
        self.k_proj = nn.Linear(c.d_model, c.n_kv_heads * self.d_head, bias=False)
        self.v_proj = nn.Linear(c.d_model, c.n_kv_heads * self.d_head, bias=False)
        self.o_proj = nn.Linear(c.n_heads * self.d_head, c.d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,H*D] -> [B,H,L,D], or with G in place of H"""
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        q = rotate(self.q_norm(self.split_heads(self.q_proj(x))), self.rope_theta)  # [B,H,L,D]
        k = rotate(self.k_norm(self.split_heads(self.k_proj(x))), self.rope_theta)  # [B,G,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,G,L,D]
        k = k.repeat_interleave(self.group_size, dim=1)  # [B,H,L,D], a copy for each query head of the group
        v = v.repeat_interleave(self.group_size, dim=1)  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.scale_width)  # [B,H,L,L]
        position = torch.arange(x.size(1))
        distance = position[:, None] - position  # [L,L], query - key
        mask = (distance >= 0) & (distance < self.window)  # [L,L], True for the token and the window - 1 before it
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,L,L], each row sums to 1
        output = weights @ v  # [B,H,L,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.gate = nn.Linear(c.d_model, c.d_ff, bias=False)
        self.up = nn.Linear(c.d_model, c.d_ff, bias=False)
        self.down = nn.Linear(c.d_ff, c.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.gelu(self.gate(x), approximate="tanh") * self.up(x))


class Layer(nn.Module):
    def __init__(self, c: Config, is_local: bool) -> None:
        super().__init__()
        self.norm1 = RMSNorm(c.d_model, c.eps)
        self.attn = Attention(c, is_local)
        self.after_attn = RMSNorm(c.d_model, c.eps)
        self.norm2 = RMSNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)
        self.after_ff = RMSNorm(c.d_model, c.eps)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        x = x + self.after_attn(self.attn(self.norm1(x)))  # [B,L,E]
        return x + self.after_ff(self.ff(self.norm2(x)))


class Gemma3(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.layers = nn.ModuleList(Layer(c, is_local=(i + 1) % c.period != 0) for i in range(c.n_layers))
        self.norm = RMSNorm(c.d_model, c.eps)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token that comes after each"""
        x = self.embed(input_ids) * math.sqrt(self.embed.embedding_dim)  # [B,L,E]
        for layer in self.layers:
            x = layer(x)  # [B,L,E]
        return self.norm(x) @ self.embed.weight.T  # [B,L,V]

    @torch.no_grad()
    def generate(self, input_ids: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids [B,L] -> [B,L+max_new_tokens]: greedy decoding"""
        for _ in range(max_new_tokens):
            next_id = self(input_ids)[:, -1].argmax(-1, keepdim=True)  # [B,1]
            input_ids = torch.cat([input_ids, next_id], dim=1)  # [B,L+1]
        return input_ids


MODEL = Gemma3
