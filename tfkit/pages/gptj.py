"""GPT-J (Wang and Komatsuzaki 2021, "GPT-J-6B: A 6 Billion Parameter Autoregressive Language Model").

Adds to GPT-2: no table of positions; instead, the first rotary_dim columns of each query and key are rotated by an
angle that grows with the position (RoPE, Su et al. 2021); attention and feed-forward network in parallel after one
norm, so that their products can be computed at once; no biases in attention; an untied output matrix, with a bias.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size, R = rotary_dim.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 50400
    d_model: int = 4096
    n_layers: int = 28
    n_heads: int = 16
    rotary_dim: int = 64
    eps: float = 1e-5


def rotate(x: Tensor, rotary_dim: int) -> Tensor:
    """[B,H,L,D]: rotate the first pairs of columns, (0,1), (2,3), …, by angles that grow with the position -> [B,H,L,D]

    The product of a rotated query and a rotated key depends on the distance between the two, and not on where they are.
    """
    position = torch.arange(x.size(2), dtype=torch.float64)[:, None]  # [L,1]
    frequency = 10000.0 ** (-torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)  # [R/2]
    cos, sin = (position * frequency).cos().to(x.dtype), (position * frequency).sin().to(x.dtype)  # [L,R/2]
    even, odd = x[..., 0:rotary_dim:2], x[..., 1:rotary_dim:2]  # [B,H,L,R/2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)  # [B,H,L,R]
    return torch.cat([rotated, x[..., rotary_dim:]], dim=-1)  # [B,H,L,D]


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads, self.rotary_dim = c.n_heads, c.rotary_dim
        self.q_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.k_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.v_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.o_proj = nn.Linear(c.d_model, c.d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        q = rotate(self.split_heads(self.q_proj(x)), self.rotary_dim)  # [B,H,L,D]
        k = rotate(self.split_heads(self.k_proj(x)), self.rotary_dim)  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()  # [L,L], True for the token and those before
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,L,L], each row sums to 1
        output = weights @ v  # [B,H,L,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.up = nn.Linear(c.d_model, 4 * c.d_model)
        self.down = nn.Linear(4 * c.d_model, c.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.attn = Attention(c)
        self.ff = FeedForward(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        y = self.norm1(x)  # [B,L,E]
        return x + self.attn(y) + self.ff(y)


class GPTJ(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.norm = nn.LayerNorm(c.d_model, c.eps)
        self.lm_head = nn.Linear(c.d_model, c.vocab_size)

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


MODEL = GPTJ
