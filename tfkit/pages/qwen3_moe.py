"""Qwen3's mixtures of experts (Yang et al. 2025, arXiv:2505.09388): the one of 30 billion parameters.

Adds to Mixtral: 128 small experts, of which a token takes eight; RMSNorm of each head's queries and keys before they
are rotated (QK-norm, Henry et al. 2020, arXiv:2010.04245); heads are d_head wide, whatever E / H is. Left out: layers
without experts and sliding windows, which the published sizes do not use, the loss that balances the experts, and the
scaling of RoPE for long texts (YaRN), which is in tfkit.nn.rope.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, G = n_kv_heads, D = d_head, N = n_experts,
K = experts_per_token, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 151936
    d_model: int = 2048
    n_layers: int = 48
    n_heads: int = 32
    n_kv_heads: int = 4
    d_head: int = 128
    d_expert: int = 768
    n_experts: int = 128
    experts_per_token: int = 8
    rope_theta: float = 1e6
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
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.d_head, self.group_size = c.d_head, c.n_heads // c.n_kv_heads
        self.rope_theta = c.rope_theta
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
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()  # [L,L], True for the token and those before
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,L,L], each row sums to 1
        output = weights @ v  # [B,H,L,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.gate = nn.Linear(c.d_model, c.d_expert, bias=False)
        self.up = nn.Linear(c.d_model, c.d_expert, bias=False)
        self.down = nn.Linear(c.d_expert, c.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.silu(self.gate(x)) * self.up(x))


class MixtureOfExperts(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.experts_per_token = c.experts_per_token
        self.router = nn.Linear(c.d_model, c.n_experts, bias=False)
        self.experts = nn.ModuleList(FeedForward(c) for _ in range(c.n_experts))

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]: the sum of what the chosen experts compute, weighted by the router"""
        probabilities = self.router(x).softmax(-1)  # [B,L,N]
        weights, chosen = probabilities.topk(self.experts_per_token, dim=-1)  # [B,L,K]
        weights = weights / weights.sum(-1, keepdim=True)  # [B,L,K], each row sums to 1
        output = torch.zeros_like(x)  # [B,L,E]
        for index, expert in enumerate(self.experts):
            weight = (weights * (chosen == index)).sum(-1, keepdim=True)  # [B,L,1], 0 where it was not chosen
            output = output + weight * expert(x)  # [B,L,E]
        return output


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.norm1 = RMSNorm(c.d_model, c.eps)
        self.attn = Attention(c)
        self.norm2 = RMSNorm(c.d_model, c.eps)
        self.ff = MixtureOfExperts(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x))  # [B,L,E]
        return x + self.ff(self.norm2(x))


class Qwen3MoE(nn.Module):
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


MODEL = Qwen3MoE
