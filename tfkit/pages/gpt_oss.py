"""gpt-oss 120B (OpenAI 2025, arXiv:2508.10925): a mixture of experts with sliding windows and attention sinks.

Adds to Mixtral: sliding-window attention over 128 tokens in every second layer; an attention sink in each head, a
learned score that takes part in the softmax and has no value; biases; experts whose gate and input are clamped, with 1
added to the input; rotary positions scaled by YaRN, for texts 32 times as long as those of the first training.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, G = n_kv_heads, D = d_head, N = n_experts, F = d_ff, T = B·L,
V = vocab_size.
"""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 201088
    d_model: int = 2880
    n_layers: int = 36
    n_heads: int = 64
    n_kv_heads: int = 8
    d_head: int = 64
    d_ff: int = 2880
    window: int = 128
    n_experts: int = 128
    experts_per_token: int = 4
    gate_slope: float = 1.702
    gate_limit: float = 7.0
    eps: float = 1e-5
    rope_theta: float = 150000.0
    pad_token_id: int = 199999
    rope_scaling: dict = field(
        default_factory=lambda: {
            "rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
            "original_max_position_embeddings": 4096,
        }
    )  # fmt: skip


def rotation(c: Config, length: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """-> cos, sin [L,D/2]: as YaRN has them: slow pairs rotate as if the text were `factor` times shorter"""
    trained, factor = c.rope_scaling["original_max_position_embeddings"], c.rope_scaling["factor"]
    plain = c.rope_theta ** -(torch.arange(0, c.d_head, 2, dtype=dtype) / c.d_head)  # [D/2], radians a position

    def pair(turns: float) -> float:
        """-> the index of the pair with this number of turns over the trained length"""
        return c.d_head * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(c.rope_theta))

    first = max(pair(c.rope_scaling["beta_fast"]), 0)
    last = min(pair(c.rope_scaling["beta_slow"]), c.d_head - 1)
    slow = ((torch.arange(c.d_head // 2, dtype=dtype) - first) / (last - first)).clamp(0, 1)  # [D/2], 0: quick
    angles = torch.arange(length, dtype=dtype)[:, None] * (slow * plain / factor + (1 - slow) * plain)  # [L,D/2]
    sharper = 0.1 * math.log(factor) + 1
    return angles.cos() * sharper, angles.sin() * sharper


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x [B,H,L,D], cos and sin [L,D/2] -> [B,H,L,D]: column i with column i + D/2"""
    first, second = x.chunk(2, dim=-1)  # [B,H,L,D/2]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


class RMSNorm(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.eps, self.weight = c.eps, nn.Parameter(torch.ones(c.d_model))

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


class Attention(nn.Module):
    def __init__(self, c: Config, window: int | None) -> None:
        super().__init__()
        self.d_head, self.groups, self.window = c.d_head, c.n_heads // c.n_kv_heads, window
        self.q_proj = nn.Linear(c.d_model, c.n_heads * c.d_head)
        self.k_proj = nn.Linear(c.d_model, c.n_kv_heads * c.d_head)
        self.v_proj = nn.Linear(c.d_model, c.n_kv_heads * c.d_head)
        self.o_proj = nn.Linear(c.n_heads * c.d_head, c.d_model)
        self.sinks = nn.Parameter(torch.zeros(c.n_heads))

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,H·D] -> [B,H,L,D]"""
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """x [B,L,E], cos and sin [L,D/2] -> [B,L,E]"""
        q = rotate(self.split_heads(self.q_proj(x)), cos, sin)  # [B,H,L,D]
        k = rotate(self.split_heads(self.k_proj(x)), cos, sin).repeat_interleave(self.groups, dim=1)  # [B,G,L,D] -> H
        v = self.split_heads(self.v_proj(x)).repeat_interleave(self.groups, dim=1)  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)  # [B,H,L,L]
        at = torch.arange(x.size(1))
        distance = at[:, None] - at  # [L,L], from the key to the query
        mask = distance >= 0 if self.window is None else (distance >= 0) & (distance < self.window)
        scores = scores.masked_fill(~mask, float("-inf"))  # [B,H,L,L]
        sinks = self.sinks[:, None, None].expand(*scores.shape[:-1], 1)  # [B,H,L,1]
        weights = torch.cat([scores, sinks], dim=-1).softmax(-1)[..., :-1]  # [B,H,L,L], rows sum to less than 1
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))  # [B,L,E]


class Experts(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.slope, self.limit = c.gate_slope, c.gate_limit
        self.gate_up = nn.Parameter(torch.zeros(c.n_experts, c.d_model, 2 * c.d_ff))
        self.gate_up_bias = nn.Parameter(torch.zeros(c.n_experts, 2 * c.d_ff))
        self.down = nn.Parameter(torch.zeros(c.n_experts, c.d_ff, c.d_model))
        self.down_bias = nn.Parameter(torch.zeros(c.n_experts, c.d_model))

    def forward(self, x: Tensor, expert: int) -> Tensor:
        """x [T,E] -> [T,E]: the output of one expert for some tokens"""
        both = x @ self.gate_up[expert] + self.gate_up_bias[expert]  # [T,2·F], gate and input in turn
        gate, up = both[:, ::2].clamp(max=self.limit), both[:, 1::2].clamp(-self.limit, self.limit)  # [T,F]
        return ((up + 1) * gate * torch.sigmoid(self.slope * gate)) @ self.down[expert] + self.down_bias[expert]


class MixtureOfExperts(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.k, self.router, self.experts = c.experts_per_token, nn.Linear(c.d_model, c.n_experts), Experts(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        flat = x.flatten(0, 1)  # [T,E]
        best, chosen = self.router(flat).topk(self.k, dim=-1)  # [T,k]
        weights = best.softmax(-1)  # [T,k]
        out = torch.zeros_like(flat)  # [T,E]
        for expert in range(self.router.out_features):
            token, choice = (chosen == expert).nonzero(as_tuple=True)  # its tokens, and which of their choices it is
            out = out.index_add(0, token, weights[token, choice, None] * self.experts(flat[token], expert))  # [T,E]
        return out.view_as(x)  # [B,L,E]


class Layer(nn.Module):
    def __init__(self, c: Config, index: int) -> None:
        super().__init__()
        self.norm1, self.attn = RMSNorm(c), Attention(c, c.window if index % 2 == 0 else None)
        self.norm2, self.ff = RMSNorm(c), MixtureOfExperts(c)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """x [B,L,E], cos and sin [L,D/2] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x), cos, sin)  # [B,L,E]
        return x + self.ff(self.norm2(x))


class GPTOSS(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config, self.embed = c, nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.layers = nn.ModuleList(Layer(c, index) for index in range(c.n_layers))
        self.norm, self.lm_head = RMSNorm(c), nn.Linear(c.d_model, c.vocab_size, bias=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token that comes after each"""
        x = self.embed(input_ids)  # [B,L,E]
        cos, sin = rotation(self.config, input_ids.size(1), x.dtype)  # [L,D/2]
        for layer in self.layers:
            x = layer(x, cos, sin)  # [B,L,E]
        return self.lm_head(self.norm(x))  # [B,L,V]

    @torch.no_grad()
    def generate(self, input_ids: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids [B,L] -> [B,L+max_new_tokens]: greedy decoding"""
        for _ in range(max_new_tokens):
            next_id = self(input_ids)[:, -1].argmax(-1, keepdim=True)  # [B,1]
            input_ids = torch.cat([input_ids, next_id], dim=1)  # [B,L+1]
        return input_ids


MODEL = GPTOSS
