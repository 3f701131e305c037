"""Funnel-Transformer (Dai et al. 2020, arXiv:2006.03236): layers that shorten the sequence by pooling.

Adds to BERT: layers are grouped in blocks, and before each block but the first, neighbours are pooled into one (the
first token stays separate): at first in the queries only, so that the shorter sequence attends to the longer one. A
decoder repeats the last states to the full length, adds those of the first block, and runs a few more layers. Positions
are relative distances.

Shapes: B sentences, L tokens, Q queries and K keys (L, or halves of it), E = d_model, H = n_heads, D = d_head, V =
vocab_size.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 30522
    block_sizes: Sequence[int] = (4, 4, 4)
    n_decoder_layers: int = 2
    d_model: int = 768
    n_heads: int = 12
    d_head: int = 64
    d_ff: int = 3072
    eps: float = 1e-9


def distance_encodings(distance: Tensor, d_model: int) -> Tensor:
    """distance [Q,K] -> [Q,K,E]: sines left, cosines right"""
    frequency = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # [E/2]
    angle = distance[..., None] * frequency  # [Q,K,E/2]
    return torch.cat([angle.sin(), angle.cos()], dim=-1)  # [Q,K,E]


class States(NamedTuple):
    """A text at its length, or pooled."""

    x: Tensor  # [B,L,E]
    types: Tensor  # [B,L]
    mask: Tensor  # bool [B,L], True = a token
    position: Tensor  # [1,L]: the position of the first of each group in the text


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads = c.n_heads
        self.q_proj = nn.Linear(c.d_model, c.n_heads * c.d_head, bias=False)
        self.k_proj = nn.Linear(c.d_model, c.n_heads * c.d_head)
        self.v_proj = nn.Linear(c.d_model, c.n_heads * c.d_head)
        self.o_proj = nn.Linear(c.n_heads * c.d_head, c.d_model)
        self.content_bias = nn.Parameter(torch.zeros(c.n_heads, c.d_head))  # biases shared by all queries: for tokens,
        self.position_bias = nn.Parameter(torch.zeros(c.n_heads, c.d_head))  # of a distance,
        self.segment_bias = nn.Parameter(torch.zeros(c.n_heads, c.d_head))  # and of a sentence
        self.position_kernel = nn.Parameter(torch.zeros(c.d_model, c.n_heads, c.d_head))  # from distances to keys
        self.segment_embed = nn.Parameter(torch.zeros(2, c.n_heads, c.d_head))  # keys of "another sentence", "the same"

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,H*D] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, states: States, source: States) -> Tensor:
        """states of Q queries, source of K keys -> [B,Q,E]"""
        q = self.split_heads(self.q_proj(states.x))  # [B,H,Q,D]
        k = self.split_heads(self.k_proj(source.x))  # [B,H,K,D]
        v = self.split_heads(self.v_proj(source.x))  # [B,H,K,D]
        distance = states.position[0][:, None] - source.position[0]  # [Q,K]
        encodings = distance_encodings(distance, source.x.size(-1)).to(q.dtype)  # [Q,K,E]
        content = (q + self.content_bias[:, None]) @ k.transpose(-2, -1)  # [B,H,Q,K]
        r = torch.einsum("qke,ehd->hqkd", encodings, self.position_kernel)  # [H,Q,K,D]
        distance_score = torch.einsum("bhqd,hqkd->bhqk", q + self.position_bias[:, None], r)  # [B,H,Q,K]
        other, same = torch.einsum("bhqd,thd->tbhq", q + self.segment_bias[:, None], self.segment_embed)[
            ..., None
        ]  # [B,H,Q,1]
        same_type = states.types[:, None, :, None] == source.types[:, None, None]  # [B,1,Q,K]
        kind = torch.where(same_type, same, other)  # [B,H,Q,K]
        has_position = torch.ones_like(distance, dtype=torch.bool)  # [Q,K]
        has_position[0], has_position[:, 0] = False, False  # the first token has neither a distance nor a sentence
        scores = (content + (distance_score + kind) * has_position) / math.sqrt(q.size(-1))  # [B,H,Q,K]
        weights = scores.masked_fill(~source.mask[:, None, None], float("-inf")).softmax(-1)  # [B,H,Q,K], rows sum to 1
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))  # [B,Q,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.up = nn.Linear(c.d_model, c.d_ff)
        self.down = nn.Linear(c.d_ff, c.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,Q,E] -> [B,Q,E]"""
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.attn, self.norm1 = Attention(c), nn.LayerNorm(c.d_model, c.eps)
        self.ff, self.norm2 = FeedForward(c), nn.LayerNorm(c.d_model, c.eps)

    def forward(self, states: States, source: States) -> States:
        """states of Q queries, source of K keys, which may be the same -> the states after this layer"""
        x = self.norm1(states.x + self.attn(states, source))  # [B,Q,E]
        return states._replace(x=self.norm2(x + self.ff(x)))


def pairs(x: Tensor) -> Tensor:
    """[B,L,...] -> [B,L,...]: the first token repeated and the last dropped, so that the first is pooled with no
    other"""
    return torch.cat([x[:, :1], x[:, :-1]], dim=1)


def pool(states: States) -> States:
    """The means of pairs of neighbours -> half as many; results that include padding are masked"""
    x = F.avg_pool1d(pairs(states.x).transpose(1, 2), 2, ceil_mode=True).transpose(1, 2)  # [B,L/2,E]
    mask = F.pad(pairs(states.mask), (0, states.mask.size(1) % 2), value=True)  # [B,L], L even
    mask = mask.unflatten(1, (-1, 2)).all(-1)  # [B,L/2]
    return States(x, pairs(states.types)[:, ::2], mask, pairs(states.position)[:, ::2])


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model)
        self.norm = nn.LayerNorm(c.d_model, c.eps)


class LMHead(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(c.vocab_size))


class Funnel(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(nn.ModuleList(Layer(c) for _ in range(size)) for size in c.block_sizes)
        self.decoder = nn.ModuleList(Layer(c) for _ in range(c.n_decoder_layers))
        self.task_head = LMHead(c)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """input_ids, token_type_ids [B,L], attention_mask [B,L], 1 = a token, 0 = padding -> logits [B,L,V]"""
        x, length = self.embed.norm(self.embed.tokens(input_ids)), input_ids.size(1)  # [B,L,E]
        states = full = States(x, token_type_ids, attention_mask.bool(), torch.arange(length)[None])
        for number, block in enumerate(self.layers):
            source = states  # the first layer of a block attends to the longer sequence
            states = pool(states) if number else states
            for layer in block.children():
                states = source = layer(states, source)  # of L, L/2, L/4, … tokens
            if number == 0:
                full = states
        times = 2 ** (len(self.layers) - 1)
        rest = states.x[:, 1:].repeat_interleave(times, dim=1)  # one for each token pooled into it
        rest = F.pad(rest, (0, 0, 0, times - 1))[:, : length - 1]  # [B,L-1,E]
        states = full._replace(x=torch.cat([states.x[:, :1], rest], dim=1) + full.x)
        for layer in self.decoder:
            states = layer(states, states)
        return states.x @ self.embed.tokens.weight.T + self.task_head.bias  # [B,L,V]


MODEL = Funnel
