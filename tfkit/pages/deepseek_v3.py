"""DeepSeek-V3 (DeepSeek-AI 2024, arXiv:2412.19437): multi-head latent attention, and 256 small experts.

Adds to Mixtral: multi-head latent attention, in which each token's keys and values for all heads are computed from one
narrow latent vector, beside one rotary key that the heads share; experts chosen in groups by a sigmoid, with a bias
that balances their load; a shared expert that every token uses; three dense layers; context extension by YaRN.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, C = d_content, R = d_rotary, D = C + R, T = B·L,
N = n_experts, G = expert_groups, V = vocab_size.
"""

import math
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 129280
    d_model: int = 7168
    n_layers: int = 61
    n_heads: int = 128
    d_query_latent: int = 1536
    d_latent: int = 512
    d_content: int = 128
    d_rotary: int = 64
    d_value: int = 128
    d_ff: int = 18432
    d_expert: int = 2048
    n_dense: int = 3
    n_experts: int = 256
    n_shared: int = 1
    experts_per_token: int = 8
    expert_groups: int = 8
    expert_groups_per_token: int = 4
    routed_scale: float = 2.5
    eps: float = 1e-6
    rope_theta: float = 10000.0
    rope_scaling: dict = field(
        default_factory=lambda: {
            "rope_type": "yarn", "factor": 40.0, "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0,
            "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096,
        }
    )  # fmt: skip


def rotation(c: Config, length: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """-> cos, sin [L,R/2]: as YaRN has them: slow pairs rotate as if the text were `factor` times shorter"""
    trained, factor = c.rope_scaling["original_max_position_embeddings"], c.rope_scaling["factor"]
    plain = c.rope_theta ** -(torch.arange(0, c.d_rotary, 2, dtype=dtype) / c.d_rotary)  # [R/2], radians a position

    def pair(turns: float) -> float:
        """-> the index of the pair with this number of turns over the trained length"""
        return c.d_rotary * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(c.rope_theta))

    first = max(math.floor(pair(c.rope_scaling["beta_fast"])), 0)
    last = min(math.ceil(pair(c.rope_scaling["beta_slow"])), c.d_rotary - 1)
    slow = ((torch.arange(c.d_rotary // 2, dtype=dtype) - first) / (last - first)).clamp(0, 1)  # [R/2], 0: quick
    angles = torch.arange(length, dtype=dtype)[:, None] * (slow * plain / factor + (1 - slow) * plain)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x [B,H,L,R], cos and sin [L,R/2] -> [B,H,L,R]: each pair of neighbouring columns is rotated"""
    even, odd = x[..., ::2], x[..., 1::2]  # [B,H,L,R/2]
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,·] -> [B,L,·]"""
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config = c
        self.q_down = nn.Linear(c.d_model, c.d_query_latent, bias=False)
        self.q_norm = RMSNorm(c.d_query_latent)
        self.q_up = nn.Linear(c.d_query_latent, c.n_heads * (c.d_content + c.d_rotary), bias=False)
        self.kv_down = nn.Linear(c.d_model, c.d_latent + c.d_rotary, bias=False)
        self.kv_norm = RMSNorm(c.d_latent)
        self.kv_up = nn.Linear(c.d_latent, c.n_heads * (c.d_content + c.d_value), bias=False)
        self.o_proj = nn.Linear(c.n_heads * c.d_value, c.d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,H·D] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.config.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """x [B,L,E], cos and sin [L,R/2] -> [B,L,E]"""
        c = self.config
        q = self.split_heads(self.q_up(self.q_norm(self.q_down(x))))  # [B,H,L,D]
        q = torch.cat([q[..., : c.d_content], rotate(q[..., c.d_content :], cos, sin)], dim=-1)
        latent, position_key = self.kv_down(x).split([c.d_latent, c.d_rotary], dim=-1)  # what a cache would hold
        position_key = rotate(position_key[:, None], cos, sin)  # [B,1,L,R]
        k, v = self.split_heads(self.kv_up(self.kv_norm(latent))).split([c.d_content, c.d_value], dim=-1)
        k = torch.cat([k, position_key.expand(-1, c.n_heads, -1, -1)], dim=-1)  # [B,H,L,D]
        sharper = 0.1 * c.rope_scaling["mscale_all_dim"] * math.log(c.rope_scaling["factor"]) + 1
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)) * sharper**2  # [B,H,L,L]
        mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()  # [L,L]
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,L,L]
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[...,E] -> [...,E]"""
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config, self.router = c, nn.Linear(c.d_model, c.n_experts, bias=False)
        self.register_buffer("balance", torch.zeros(c.n_experts))
        self.experts = nn.ModuleList(FeedForward(c.d_model, c.d_expert) for _ in range(c.n_experts))
        self.shared = FeedForward(c.d_model, c.n_shared * c.d_expert)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        c, flat = self.config, x.flatten(0, 1)  # [T,E]
        scores = self.router(flat).sigmoid()  # [T,N]
        groups = (scores + self.balance).unflatten(-1, (c.expert_groups, -1))  # [T,G,N/G]
        group_scores = groups.topk(2, dim=-1).values.sum(-1)  # [T,G]
        last = group_scores.topk(c.expert_groups_per_token, dim=-1).values[:, -1:]  # [T,1], of the worst that is kept
        groups = groups.masked_fill((group_scores < last)[..., None], float("-inf"))  # [T,G,N/G]
        chosen = groups.flatten(1).topk(c.experts_per_token, dim=-1).indices  # [T,k]
        weights = scores.gather(-1, chosen)  # [T,k], without the bias
        weights = c.routed_scale * weights / weights.sum(-1, keepdim=True)  # [T,k]
        out = self.shared(flat)  # [T,E]
        for index, expert in enumerate(self.experts):
            token, choice = (chosen == index).nonzero(as_tuple=True)  # its tokens, and which of their choices it is
            out = out.index_add(0, token, weights[token, choice, None] * expert(flat[token]))  # [T,E]
        return out.view_as(x)  # [B,L,E]


class Layer(nn.Module):
    def __init__(self, c: Config, index: int) -> None:
        super().__init__()
        self.norm1, self.attn, self.norm2 = RMSNorm(c.d_model, c.eps), Attention(c), RMSNorm(c.d_model, c.eps)
        self.ff = FeedForward(c.d_model, c.d_ff) if index < c.n_dense else Experts(c)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """x [B,L,E], cos and sin [L,R/2] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x), cos, sin)  # [B,L,E]
        return x + self.ff(self.norm2(x))


class DeepSeekV3(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config, self.embed = c, nn.Embedding(c.vocab_size, c.d_model)
        self.layers = nn.ModuleList(Layer(c, index) for index in range(c.n_layers))
        self.norm, self.lm_head = RMSNorm(c.d_model, c.eps), nn.Linear(c.d_model, c.vocab_size, bias=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token that comes after each"""
        x = self.embed(input_ids)  # [B,L,E]
        cos, sin = rotation(self.config, input_ids.size(1), x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)  # [B,L,E]
        return self.lm_head(self.norm(x))  # [B,L,V]


MODEL = DeepSeekV3
