"""BLOOM (Scao et al. 2022, arXiv:2211.05100): an open language model for 46 natural and 13 programming languages.

Adds to GPT-2: no table of positions; instead, each score is lowered in proportion to the distance between query and
key, by a slope for each head (ALiBi, Press et al. 2021, arXiv:2108.12409), which extrapolates to texts longer than
those in training; a norm after the embeddings; one matrix for queries, keys and values, whose rows are ordered by head.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 250880
    d_model: int = 1024
    n_layers: int = 24
    n_heads: int = 16
    eps: float = 1e-5


def alibi_slopes(n_heads: int) -> Tensor:
    """-> [H]: 2^(-8 i / H) for i = 1 … H. If H is no power of 2, then those of the next smaller power of 2, and the
    first, third, fifth … of the next larger one"""
    power = 2 ** int(math.log2(n_heads))
    exponents = [8 * i / power for i in range(1, power + 1)]
    exponents += [4 * i / power for i in range(1, 2 * (n_heads - power), 2)]
    return 2.0 ** -torch.tensor(exponents)


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads = c.n_heads
        self.qkv_proj = nn.Linear(c.d_model, 3 * c.d_model)
        self.o_proj = nn.Linear(c.d_model, c.d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,3*E] -> [B,H,L,3*D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        q, k, v = self.split_heads(self.qkv_proj(x)).chunk(3, dim=-1)  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        position = torch.arange(x.size(1))
        distance = position[:, None] - position  # [L,L], query - key, negative where the key comes later
        scores = scores - alibi_slopes(self.n_heads)[:, None, None] * distance  # [B,H,L,L]
        weights = scores.masked_fill(distance < 0, float("-inf")).softmax(-1)  # [B,H,L,L], each row sums to 1
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
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x))  # [B,L,E]
        return x + self.ff(self.norm2(x))


class BLOOM(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.embed_norm = nn.LayerNorm(c.d_model, c.eps)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.norm = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token that comes after each"""
        x = self.embed_norm(self.embed(input_ids))  # [B,L,E]
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


MODEL = BLOOM
