"""GPT-NeoX-20B (Black et al. 2022, arXiv:2204.06745) and, in the same form, Pythia (Biderman et al. 2023,
arXiv:2304.01373), whose many checkpoints show the course of training. Config() is Pythia 160M.

Adds to GPT-J: attention and feed-forward network, in parallel, have a norm each; the first rotary_fraction of each
head's columns is rotated, column i with column i + R/2; one matrix for queries, keys and values, with a bias, whose
rows are ordered by head; in Pythia, exact GELU, not its tanh approximation; no bias of the output matrix.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, R = rotary_fraction * D, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 50304
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int = 3072
    rotary_fraction: float = 0.25
    rope_theta: float = 10000.0
    eps: float = 1e-5


def rotate(x: Tensor, rotary_dim: int, theta: float) -> Tensor:
    """[B,H,L,D]: rotate the pairs of columns (i, i + R/2) by angles that grow with the position -> [B,H,L,D]

    The product of a rotated query and a rotated key depends on the distance between the two, and not on where they are.
    """
    position = torch.arange(x.size(2), dtype=torch.float64)[:, None]  # [L,1]
    frequency = theta ** (-torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)  # [R/2]
    cos, sin = (position * frequency).cos().to(x.dtype), (position * frequency).sin().to(x.dtype)  # [L,R/2]
    first, second = x[..., :rotary_dim].chunk(2, dim=-1)  # [B,H,L,R/2]
    rotated = torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)  # [B,H,L,R]
    return torch.cat([rotated, x[..., rotary_dim:]], dim=-1)  # [B,H,L,D]


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads, self.rope_theta = c.n_heads, c.rope_theta
        self.rotary_dim = int(c.rotary_fraction * c.d_model / c.n_heads)
        self.qkv_proj = nn.Linear(c.d_model, 3 * c.d_model)
        self.o_proj = nn.Linear(c.d_model, c.d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,3*E] -> [B,H,L,3*D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        q, k, v = self.split_heads(self.qkv_proj(x)).chunk(3, dim=-1)  # [B,H,L,D]
        q = rotate(q, self.rotary_dim, self.rope_theta)  # [B,H,L,D]
        k = rotate(k, self.rotary_dim, self.rope_theta)  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()  # [L,L], True for the token and those before
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,L,L], each row sums to 1
        output = weights @ v  # [B,H,L,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.up = nn.Linear(c.d_model, c.d_ff)
        self.down = nn.Linear(c.d_ff, c.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.gelu(self.up(x)))


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.attn = Attention(c)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return x + self.attn(self.norm1(x)) + self.ff(self.norm2(x))


class GPTNeoX(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.norm = nn.LayerNorm(c.d_model, c.eps)
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


MODEL = GPTNeoX
