"""SmolLM3 (Bakouch et al. 2025, https://huggingface.co/blog/smollm3).

Adds to Llama: every fourth layer rotates neither queries nor keys, so that it knows no positions beyond what is earlier
(NoPE, Kazemnejad et al. 2023, arXiv:2305.19466; as one layer in four: Yang et al. 2025, arXiv:2501.18795); tied
embeddings. Left out: sliding windows in those layers, which the published model does not use, and the scaling of RoPE
for texts beyond 64k tokens (YaRN), which is in tfkit.nn.rope.

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
    d_model: int = 2048
    n_layers: int = 36
    n_heads: int = 16
    n_kv_heads: int = 4
    d_ff: int = 11008
    nope_interval: int = 4
    rope_theta: float = 5e6
    eps: float = 1e-6


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
    def __init__(self, c: Config, index: int) -> None:
        super().__init__()
        self.d_head, self.group_size = c.d_model // c.n_heads, c.n_heads // c.n_kv_heads
        self.rope_theta = c.rope_theta
        self.has_positions = (index + 1) % c.nope_interval != 0
        self.q_proj = nn.Linear(c.d_model, c.n_heads * self.d_head, bias=False)
        self.k_proj = nn.Linear(c.d_model, c.n_kv_heads * self.d_head, bias=False)
        self.v_proj = nn.Linear(c.d_model, c.n_kv_heads * self.d_head, bias=False)
        self.o_proj = nn.Linear(c.n_heads * self.d_head, c.d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,H*D] -> [B,H,L,D], or with G in place of H"""
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        q, k = self.split_heads(self.q_proj(x)), self.split_heads(self.k_proj(x))  # [B,H,L,D] and [B,G,L,D]
        if self.has_positions:
            q, k = rotate(q, self.rope_theta), rotate(k, self.rope_theta)  # [B,H,L,D] and [B,G,L,D]
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
    def __init__(self, c: Config, index: int) -> None:
        super().__init__()
        self.norm1 = RMSNorm(c.d_model, c.eps)
        self.attn = Attention(c, index)
        self.norm2 = RMSNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x))  # [B,L,E]
        return x + self.ff(self.norm2(x))


class SmolLM3(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.layers = nn.ModuleList(Layer(c, index) for index in range(c.n_layers))
        self.norm = RMSNorm(c.d_model, c.eps)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token that comes after each"""
        x = self.embed(input_ids)  # [B,L,E]
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


MODEL = SmolLM3
