"""GPT-Neo (Black et al. 2021, EleutherAI, doi:10.5281/zenodo.5297715): an open replication of GPT-3.

Adds to GPT-3: scores are not divided by sqrt(D) (the weights absorb it); queries, keys and values have no biases. Every
second layer is local, as in all published sizes: a token attends to itself and to the window - 1 tokens before it.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 50257
    d_model: int = 2048
    n_layers: int = 24
    n_heads: int = 16
    max_length: int = 2048
    window: int = 256
    eps: float = 1e-5


class Attention(nn.Module):
    def __init__(self, c: Config, window: int) -> None:
        super().__init__()
        self.n_heads, self.window = c.n_heads, window
        self.q_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.k_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.v_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.o_proj = nn.Linear(c.d_model, c.d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        q = self.split_heads(self.q_proj(x))  # [B,H,L,D]
        k = self.split_heads(self.k_proj(x))  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1)  # [B,H,L,L], not divided by sqrt(D)
        position = torch.arange(x.size(1))
        distance = position[:, None] - position  # [L,L], query - key
        mask = (distance >= 0) & (distance < self.window)  # [L,L], True for the token and the window - 1 before it
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
    def __init__(self, c: Config, window: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.attn = Attention(c, window)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x))  # [B,L,E]
        return x + self.ff(self.norm2(x))


class GPTNeo(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.position = nn.Embedding(c.max_length, c.d_model)
        windows = [c.window if i % 2 else c.max_length for i in range(c.n_layers)]  # every second layer is local
        self.layers = nn.ModuleList(Layer(c, window) for window in windows)
        self.norm = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token that comes after each"""
        position_ids = torch.arange(input_ids.size(1))  # [L]
        x = self.embed(input_ids) + self.position(position_ids)  # [B,L,E]
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


MODEL = GPTNeo
