"""Longformer (Beltagy et al. 2020, arXiv:2004.05150): RoBERTa over whole documents.

Adds to RoBERTa: a token attends to `window` neighbours, half on each side, so that time and memory can grow linearly
with the length; a few tokens are global: they attend to all and all attend to them, the former through separate
projections, which are initialised as copies of the local ones.
Left out: the blocked computation. This page computes all scores and masks those that a fast kernel never computes.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 50265
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int = 3072
    max_length: int = 4098
    window: int = 512
    eps: float = 1e-5
    pad_token_id: int = 1


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.positions = nn.Embedding(c.max_length, c.d_model, padding_idx=c.pad_token_id)
        self.types = nn.Embedding(1, c.d_model)  # one sentence type instead of BERT's two
        self.norm = nn.LayerNorm(c.d_model, c.eps)
        self.pad_token_id = c.pad_token_id

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> [B,L,E]"""
        is_token = input_ids != self.pad_token_id  # [B,L]
        position_ids = is_token.cumsum(-1) * is_token + self.pad_token_id  # [B,L], 2, 3, 4, … and 1 for padding
        x = self.tokens(input_ids) + self.positions(position_ids) + self.types.weight[0]  # [B,L,E]
        return self.norm(x)


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads, self.reach = c.n_heads, c.window // 2
        self.q_proj = nn.Linear(c.d_model, c.d_model)
        self.k_proj = nn.Linear(c.d_model, c.d_model)
        self.v_proj = nn.Linear(c.d_model, c.d_model)
        self.q_global = nn.Linear(c.d_model, c.d_model)
        self.k_global = nn.Linear(c.d_model, c.d_model)
        self.v_global = nn.Linear(c.d_model, c.d_model)
        self.o_proj = nn.Linear(c.d_model, c.d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """q, k, v [B,L,E], mask bool, broadcastable to [B,H,L,L] -> [B,L,E]"""
        q, k, v = self.split_heads(q), self.split_heads(k), self.split_heads(v)  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        weights = scores.masked_fill(~mask, -1e30).softmax(-1)  # [B,H,L,L], each row sums to 1
        return (weights @ v).transpose(1, 2).flatten(2)  # [B,L,E]

    def forward(self, x: Tensor, is_token: Tensor, is_global: Tensor) -> Tensor:
        """x [B,L,E], is_token, is_global bool [B,L] -> [B,L,E]"""
        position = torch.arange(x.size(1))
        near = (position[:, None] - position).abs() <= self.reach  # [L,L]
        mask = is_token[:, None] & (near | is_global[:, None])  # [B,L,L]: the neighbours and global tokens
        local_output = self.attend(self.q_proj(x), self.k_proj(x), self.v_proj(x), mask[:, None])  # [B,L,E]
        mask = is_token[:, None, None]  # [B,1,1,L]: global tokens attend to all
        global_output = self.attend(self.q_global(x), self.k_global(x), self.v_global(x), mask)  # [B,L,E]
        output = torch.where(is_global[..., None], global_output, local_output)  # [B,L,E]
        return self.o_proj(output * is_token[..., None])  # [B,L,E]


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
        self.attn = Attention(c)
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, is_token: Tensor, is_global: Tensor) -> Tensor:
        """x [B,L,E], is_token, is_global bool [B,L] -> [B,L,E]"""
        x = self.norm1(x + self.attn(x, is_token, is_global))  # [B,L,E]
        return self.norm2(x + self.ff(x))


class MaskedLMHead(nn.Module):
    """Predicts the masked tokens."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.dense = nn.Linear(c.d_model, c.d_model)
        self.norm = nn.LayerNorm(c.d_model, c.eps)
        self.bias = nn.Parameter(torch.zeros(c.vocab_size))

    def forward(self, x: Tensor, embedding: Tensor) -> Tensor:
        """x [B,L,E], embedding [V,E] -> logits [B,L,V]"""
        x = self.norm(F.gelu(self.dense(x)))  # [B,L,E]
        return x @ embedding.T + self.bias  # [B,L,V]


class Longformer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.task_head = MaskedLMHead(c)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, global_attention_mask: Tensor) -> Tensor:
        """input_ids [B,L], attention_mask [B,L], 1 = a token, 0 = padding, global_attention_mask [B,L], 1 = a token
        that attends to all, and that all attend to -> logits [B,L,V]"""
        is_token = attention_mask.bool()  # [B,L]
        is_global = global_attention_mask.bool() & is_token  # [B,L]
        x = self.embed(input_ids)  # [B,L,E]
        for layer in self.layers:
            x = layer(x, is_token, is_global)  # [B,L,E]
        return self.task_head(x, self.embed.tokens.weight)  # [B,L,V]


MODEL = Longformer
