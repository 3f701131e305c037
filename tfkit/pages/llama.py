"""Llama 3 (Grattafiori et al. 2024, arXiv:2407.21783), after Llama 1 and 2 (Touvron et al. 2023, arXiv:2302.13971).

Adds to GPT-2: no table of positions; instead, each query and key is rotated by angles that grow with its position
(RoPE, Su et al. 2021, arXiv:2104.09864); RMSNorm, which subtracts no mean and adds no bias (Zhang and Sennrich 2019,
arXiv:1910.07467); a feed-forward network with a gate (SwiGLU, Shazeer 2020, arXiv:2002.05202); no biases anywhere; a
group of query heads shares one key-value head (grouped-query attention, Ainslie et al. 2023, arXiv:2305.13245); an
untied output matrix. Left out: the scaling of RoPE for long texts that Llama 3.1 adds, which is in tfkit.nn.rope.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, G = n_kv_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 128256
    d_model: int = 4096
    n_layers: int = 32
    n_heads: int = 32
    n_kv_heads: int = 8
    d_ff: int = 14336
    rope_theta: float = 500000.0
    eps: float = 1e-5


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
        self.d_head, self.group_size = c.d_model // c.n_heads, c.n_heads // c.n_kv_heads
        self.rope_theta = c.rope_theta
        self.q_proj = nn.Linear(c.d_model, c.n_heads * self.d_head, bias=False)
        self.k_proj = nn.Linear(c.d_model, c.n_kv_heads * self.d_head, bias=False)
        self.v_proj = nn.Linear(c.d_model, c.n_kv_heads * self.d_head, bias=False)
        self.o_proj = nn.Linear(c.n_heads * self.d_head, c.d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,H*D] -> [B,H,L,D], or with G in place of H"""
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        q = rotate(self.split_heads(self.q_proj(x)), self.rope_theta)  # [B,H,L,D]
        k = rotate(self.split_heads(self.k_proj(x)), self.rope_theta)  # [B,G,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,G,L,D]
        k = k.repeat_interleave(self.group_size, dim=1)  # [B,H,L,D], a copy for each query head of the group
        v = v.repeat_interleave(self.group_size, dim=1)  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()  # [L,L], True for the token and those before
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
        return self.down(F.silu(self.gate(x)) * self.up(x))


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


class Llama(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
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


MODEL = Llama
