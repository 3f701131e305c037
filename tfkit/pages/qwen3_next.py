"""Qwen3-Next (Qwen team 2025, https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct), of 80 billion parameters.

Adds to Qwen3's mixture of experts: in three layers of four a gated DeltaNet (Yang et al. 2024, arXiv:2412.06464) with a
state of fixed size that maps keys to values; attention's gate (Qiu et al. 2025, arXiv:2505.06708), and rotation of only
a quarter of its columns; a shared expert. Left out: the balancing loss, and the loop's parallel form: nn.delta_rule.

Shapes: B sentences, L tokens, E = d_model, V = vocab_size. Of attention: H = n_heads, G = n_kv_heads, D = d_head,
R = rotary_fraction * D. Of the DeltaNet: M = n_key_heads, N = n_value_heads, K = d_key, U = d_value.
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
    n_heads: int = 16
    n_kv_heads: int = 2
    d_head: int = 256
    rotary_fraction: float = 0.25
    attention_interval: int = 4
    n_key_heads: int = 16
    n_value_heads: int = 32
    d_key: int = 128
    d_value: int = 128
    kernel: int = 4
    d_expert: int = 512
    d_shared: int = 512
    n_experts: int = 512
    experts_per_token: int = 10
    rope_theta: float = 1e7
    eps: float = 1e-6


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float, offset: float = 1.0) -> None:
        super().__init__()
        self.eps, self.offset, self.weight = eps, offset, nn.Parameter(torch.full((width,), 1 - offset))

    def forward(self, x: Tensor) -> Tensor:
        """[...,width] -> [...,width]"""
        root_mean_square = (x.square().mean(-1, keepdim=True) + self.eps).sqrt()  # [...,1]
        return (self.offset + self.weight) * (x / root_mean_square)


def rotate(x: Tensor, rotary_dim: int, theta: float) -> Tensor:
    """[B,H,L,D]: rotate the pairs of columns (i, i + R/2) by angles that grow with the position -> [B,H,L,D]"""
    position = torch.arange(x.size(2), dtype=torch.float64)[:, None]  # [L,1]
    frequency = theta ** (-torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)  # [R/2]
    cos, sin = (position * frequency).cos().to(x.dtype), (position * frequency).sin().to(x.dtype)  # [L,R/2]
    first, second = x[..., :rotary_dim].chunk(2, dim=-1)  # [B,H,L,R/2]
    return torch.cat([first * cos - second * sin, first * sin + second * cos, x[..., rotary_dim:]], dim=-1)  # [B,H,L,D]


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config, self.q_norm, self.k_norm = c, RMSNorm(c.d_head, c.eps), RMSNorm(c.d_head, c.eps)
        self.q_proj = nn.Linear(c.d_model, c.n_heads * 2 * c.d_head, bias=False)  # of each head a query and a gate
        self.k_proj = nn.Linear(c.d_model, c.n_kv_heads * c.d_head, bias=False)
        self.v_proj = nn.Linear(c.d_model, c.n_kv_heads * c.d_head, bias=False)
        self.o_proj = nn.Linear(c.n_heads * c.d_head, c.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        c, rotary_dim = self.config, int(self.config.rotary_fraction * self.config.d_head)
        q, gate = self.q_proj(x).unflatten(-1, (c.n_heads, -1)).transpose(1, 2).chunk(2, dim=-1)  # [B,H,L,D]
        k, v = (f(x).unflatten(-1, (c.n_kv_heads, -1)).transpose(1, 2) for f in (self.k_proj, self.v_proj))  # [B,G,L,D]
        q, k = (rotate(part, rotary_dim, c.rope_theta) for part in (self.q_norm(q), self.k_norm(k)))
        k, v = (part.repeat_interleave(c.n_heads // c.n_kv_heads, dim=1) for part in (k, v))  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()  # [L,L], True for the token and those before
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,L,L], each row sums to 1
        return self.o_proj((weights @ v * gate.sigmoid()).transpose(1, 2).flatten(2))  # [B,L,E]


class GatedDeltaNet(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config, keys, values = c, c.n_key_heads * c.d_key, c.n_value_heads * c.d_value
        self.in_proj = nn.Linear(c.d_model, 2 * keys + 2 * values, bias=False)
        self.rates_proj = nn.Linear(c.d_model, 2 * c.n_value_heads, bias=False)
        self.conv = nn.Conv1d(2 * keys + values, 2 * keys + values, c.kernel, groups=2 * keys + values, bias=False)
        self.decay_log, self.step_bias = (nn.Parameter(torch.zeros(c.n_value_heads)) for _ in range(2))
        self.norm, self.out_proj = RMSNorm(c.d_value, c.eps, offset=0.0), nn.Linear(values, c.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        c, shared = self.config, self.config.n_value_heads // self.config.n_key_heads
        own = self.in_proj(x).unflatten(-1, (c.n_key_heads, -1))  # [B,L,M,2*K+2*U*N/M]
        q, k, v, gate = own.split([c.d_key, c.d_key, shared * c.d_value, shared * c.d_value], dim=-1)
        beta, step = self.rates_proj(x).unflatten(-1, (c.n_key_heads, -1)).chunk(2, dim=-1)  # [B,L,M,N/M]
        decay = torch.exp(-self.decay_log.exp() * F.softplus(step.flatten(2) + self.step_bias))  # [B,L,N], from 0 to 1
        mixed = torch.cat([part.flatten(2).transpose(1, 2) for part in (q, k, v)], dim=1)  # [B,2*M*K+N*U,L]
        mixed = F.silu(self.conv(F.pad(mixed, (c.kernel - 1, 0)))).transpose(1, 2)  # [B,L,2*M*K+N*U]
        qk, v = mixed.split([2 * c.n_key_heads * c.d_key, c.n_value_heads * c.d_value], dim=-1)
        qk, v = qk.unflatten(-1, (2, c.n_key_heads, -1)), v.unflatten(-1, (c.n_value_heads, -1))
        qk = qk * torch.rsqrt(qk.square().sum(-1, keepdim=True) + 1e-6)  # [B,L,2,M,K], of length one
        q, k = qk.repeat_interleave(shared, dim=3).unbind(2)  # [B,L,N,K]
        state, out = x.new_zeros(x.size(0), c.n_value_heads, c.d_key, c.d_value), []  # [B,N,K,U]
        for t in range(x.size(1)):
            state = decay[:, t, :, None, None] * state  # [B,N,K,U]
            found = (k[:, t, :, None] @ state).squeeze(-2)  # [B,N,U]: the state's value for the key
            correction = beta[:, t].flatten(1).sigmoid()[..., None] * (v[:, t] - found)  # [B,N,U]
            state = state + k[:, t, ..., None] * correction[..., None, :]  # [B,N,K,U]
            out.append((q[:, t, :, None] @ state).squeeze(-2) / math.sqrt(c.d_key))  # [B,N,U]
        return self.out_proj(self.norm(torch.stack(out, dim=1)).flatten(2) * F.silu(gate.flatten(2)))  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.silu(self.gate(x)) * self.up(x))


class MixtureOfExperts(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.experts_per_token, self.router = c.experts_per_token, nn.Linear(c.d_model, c.n_experts, bias=False)
        self.experts = nn.ModuleList(FeedForward(c.d_model, c.d_expert) for _ in range(c.n_experts))
        self.shared, self.shared_gate = FeedForward(c.d_model, c.d_shared), nn.Linear(c.d_model, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]: the shared expert, and the chosen ones, weighted by the router"""
        weights, chosen = self.router(x).softmax(-1).topk(self.experts_per_token, dim=-1)  # [B,L,·]
        weights = weights / weights.sum(-1, keepdim=True)  # each row sums to 1
        output = self.shared_gate(x).sigmoid() * self.shared(x)  # [B,L,E]
        for index, expert in enumerate(self.experts):
            output = output + (weights * (chosen == index)).sum(-1, keepdim=True) * expert(x)  # 0 if it was not chosen
        return output


class Layer(nn.Module):
    def __init__(self, c: Config, index: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(c.d_model, c.eps), RMSNorm(c.d_model, c.eps)
        self.attn = GatedDeltaNet(c) if (index + 1) % c.attention_interval else Attention(c)
        self.ff = MixtureOfExperts(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x))  # [B,L,E]
        return x + self.ff(self.norm2(x))


class Qwen3Next(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed, self.norm = nn.Embedding(c.vocab_size, c.d_model), RMSNorm(c.d_model, c.eps)
        self.layers = nn.ModuleList(Layer(c, index) for index in range(c.n_layers))
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
            input_ids = torch.cat([input_ids, self(input_ids)[:, -1:].argmax(-1)], dim=1)  # [B,L+1]
        return input_ids


MODEL = Qwen3Next
