"""GPT (Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training"): predict the next token.

Adds to the transformer's decoder: no encoder, and so no cross-attention; learned positions; GELU in its tanh
approximation. It is still post-norm, as the transformer is (GPT-2 moved the norms).

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 40478
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    max_length: int = 512
    eps: float = 1e-5


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
        self.up = nn.Linear(c.d_model, 4 * c.d_model)
        self.down = nn.Linear(4 * c.d_model, c.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.attn = Attention(c)
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        x = self.norm1(x + self.attn(x))  # [B,L,E]
        return self.norm2(x + self.ff(x))


class GPT(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.position = nn.Embedding(c.max_length, c.d_model)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token that comes after each"""
        position_ids = torch.arange(input_ids.size(1))  # [L]
        x = self.embed(input_ids) + self.position(position_ids)  # [B,L,E]
        for layer in self.layers:
            x = layer(x)  # [B,L,E]
        return x @ self.embed.weight.T  # [B,L,V]

    @torch.no_grad()
    def generate(self, input_ids: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids [B,L] -> [B,L+max_new_tokens]: greedy decoding"""
        for _ in range(max_new_tokens):
            next_id = self(input_ids)[:, -1].argmax(-1, keepdim=True)  # [B,1]
            input_ids = torch.cat([input_ids, next_id], dim=1)  # [B,L+1]
        return input_ids


MODEL = GPT
