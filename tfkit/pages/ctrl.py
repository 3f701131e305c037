"""CTRL (Keskar et al. 2019, arXiv:1909.05858): a language model whose first token selects the kind of text.

Adds to GPT-2: the first token of each text is a control code that names its source ("Wikipedia", "Reviews", …), an
ordinary token of the vocabulary. Positions are sinusoids, added to embeddings times sqrt(E); ReLU; the output has a
bias.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 246534
    d_model: int = 1280
    n_layers: int = 48
    n_heads: int = 16
    d_ff: int = 8192
    eps: float = 1e-6


def sinusoidal_positions(length: int, d_model: int) -> Tensor:
    """Sines of all frequencies, from fast to slow, and then the cosines (the transformer interleaves them) -> [L,E]"""
    position = torch.arange(length, dtype=torch.float64)[:, None]  # [L,1]
    frequency = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # [E/2]
    angle = position * frequency  # [L,E/2]
    return torch.cat([angle.sin(), angle.cos()], dim=-1).to(torch.get_default_dtype())  # [L,E]


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads = c.n_heads
        self.q_proj = nn.Linear(c.d_model, c.d_model)
        self.k_proj = nn.Linear(c.d_model, c.d_model)
        self.v_proj = nn.Linear(c.d_model, c.d_model)
        self.o_proj = nn.Linear(c.d_model, c.d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        q = self.split_heads(self.q_proj(x))  # [B,H,L,D]
        k = self.split_heads(self.k_proj(x))  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
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
        return self.down(F.relu(self.up(x)))


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


class CTRL(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config = c
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.norm = nn.LayerNorm(c.d_model, c.eps)
        self.score_bias = nn.Parameter(torch.zeros(c.vocab_size))

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token that comes after each"""
        x = self.embed(input_ids) * math.sqrt(self.config.d_model)  # [B,L,E]
        x = x + sinusoidal_positions(input_ids.size(1), self.config.d_model).to(x.dtype)  # [B,L,E]
        for layer in self.layers:
            x = layer(x)  # [B,L,E]
        return self.norm(x) @ self.embed.weight.T + self.score_bias  # [B,L,V]

    @torch.no_grad()
    def generate(self, input_ids: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids [B,L] -> [B,L+max_new_tokens]: greedy decoding"""
        for _ in range(max_new_tokens):
            next_id = self(input_ids)[:, -1].argmax(-1, keepdim=True)  # [B,1]
            input_ids = torch.cat([input_ids, next_id], dim=1)  # [B,L+1]
        return input_ids


MODEL = CTRL
