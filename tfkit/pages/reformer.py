"""Reformer (Kitaev et al. 2020, arXiv:2001.04451): a memory-efficient language model for very long texts.

Adds to GPT-2: in some layers a token attends to those whose vectors have the same random hash (queries are their own
keys), sorted by bucket and cut into chunks; in the others to those of its own chunk and the one before; layers are
reversible (each half of the state is changed by a function of the other, so that inputs can be recomputed from
outputs); positions come from two small tables.
Left out: what saves memory. This page computes all scores and masks most of them, and has autograd's backward pass.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = d_head, R = n_hashes rounds of hashing, V = vocab_size.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 258
    d_model: int = 1024
    d_head: int = 128
    n_heads: int = 8
    d_ff: int = 4096
    layers: Sequence[str] = ("local", "local", "lsh", "local") * 3
    axial_shape: Sequence[int] = (128, 512)
    axial_dims: Sequence[int] = (256, 768)
    local_chunk: int = 128
    lsh_chunk: int = 256
    n_hashes: int = 4
    n_buckets: int = 512
    hash_seed: int = 0
    eps: float = 1e-12


class LocalAttention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads, self.chunk, inner = c.n_heads, c.local_chunk, c.n_heads * c.d_head
        self.q_proj, self.k_proj = nn.Linear(c.d_model, inner, bias=False), nn.Linear(c.d_model, inner, bias=False)
        self.v_proj, self.o_proj = nn.Linear(c.d_model, inner, bias=False), nn.Linear(inner, c.d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,H*D] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        q, k = self.split_heads(self.q_proj(x)), self.split_heads(self.k_proj(x))  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
        position = torch.arange(x.size(1))
        chunk = position // self.chunk  # [L]
        mask = (position <= position[:, None]) & (chunk >= chunk[:, None] - 1)  # [L,L]: its chunk and the one before
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,L,L], each row sums to 1
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))  # [B,L,E]


class HashedAttention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config, inner = c, c.n_heads * c.d_head
        self.qk_proj, self.v_proj = nn.Linear(c.d_model, inner, bias=False), nn.Linear(c.d_model, inner, bias=False)
        self.o_proj = nn.Linear(inner, c.d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,H*D] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.config.n_heads, -1)).transpose(1, 2)

    def hash(self, qk: Tensor) -> Tensor:
        """[B,H,L,D] -> bucket [B,H,R,L]: which of n_buckets directions a vector is nearest to, after a rotation"""
        c, generator = self.config, torch.Generator().manual_seed(self.config.hash_seed)
        shape = c.n_heads, c.d_head, c.n_hashes, c.n_buckets // 2
        rotations = torch.randn(shape, generator=generator, dtype=qk.dtype).transpose(1, 2)  # [H,R,D,buckets/2]
        rotated = qk.detach()[:, :, None] @ rotations  # [B,H,R,L,buckets/2]
        return torch.cat([rotated, -rotated], dim=-1).argmax(-1)  # [B,H,R,L]

    def key_counts(self, bucket: Tensor) -> Tensor:
        """bucket [B,H,R,L] -> in how many chunks each query meets each key [B,H,R,L,L]

        Sorted by bucket and cut into chunks, a token meets those of its chunk and of the one before. As published: a
        chunk is cut without looking where a bucket ends, and before a round's first chunk comes the last one of the
        round before, as in a ring."""
        rank = bucket.argsort(dim=-1, stable=True).argsort(dim=-1)  # [B,H,R,L]
        chunk = rank // self.config.lsh_chunk  # [B,H,R,L]
        query, key, key_before = chunk[..., None], chunk[..., None, :], chunk.roll(1, dims=2)[..., None, :]
        before = torch.where(query == 0, key_before == chunk.max(), key == query - 1)  # [B,H,R,L,L]
        return (query == key).double() + before.double()  # [B,H,R,L,L]

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        qk, v = self.split_heads(self.qk_proj(x)), self.split_heads(self.v_proj(x))  # [B,H,L,D]
        k = qk * (qk.square().mean(-1, keepdim=True) + 1e-6).rsqrt() / math.sqrt(qk.size(-1))  # [B,H,L,D], length one
        position = torch.arange(x.size(1))
        scores = (qk @ k.transpose(-2, -1))[:, :, None]  # [B,H,1,L,L]
        scores = scores.masked_fill(position == position[:, None], 0.0) - 1e5 * (position == position[:, None])
        scores = scores.masked_fill(position > position[:, None], float("-inf"))  # [B,H,1,L,L]
        if x.size(1) > self.config.lsh_chunk:  # a text of one chunk is attended to in full
            scores = scores + self.key_counts(self.hash(qk)).log().to(x.dtype)  # [B,H,R,L,L]: -inf where two never meet
        weights = scores.softmax(-1)  # [B,H,R,L,L], each row sums to 1
        rounds = scores.logsumexp(-1, keepdim=True).softmax(2)  # [B,H,R,L,1]: the weight of each round
        output = (weights @ v[:, :, None] * rounds).sum(2)  # [B,H,L,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(c.d_model, c.d_ff), nn.Linear(c.d_ff, c.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.relu(self.up(x)))


class Sublayer(nn.Module):
    def __init__(self, c: Config, inner: nn.Module) -> None:
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(c.d_model, c.eps), inner

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.inner(self.norm(x))


class ReversibleLayer(nn.Module):
    def __init__(self, c: Config, kind: str) -> None:
        super().__init__()
        self.f = Sublayer(c, LocalAttention(c) if kind == "local" else HashedAttention(c))
        self.g = Sublayer(c, FeedForward(c))

    def forward(self, x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
        """x1, x2 [B,L,E] -> y1, y2 [B,L,E]; backwards, x2 = y2 - g(y1) and x1 = y1 - f(x2)"""
        y1 = x1 + self.f(x2)
        return y1, x2 + self.g(y1)


class AxialPositions(nn.Module):
    """Position p is row p // columns of one table beside row p % columns of the other."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        (rows, columns), (one, two) = c.axial_shape, c.axial_dims
        self.tables = nn.ParameterList([torch.zeros(rows, 1, one), torch.zeros(1, columns, two)])

    def forward(self, position_ids: Tensor) -> Tensor:
        """[L] -> [L,E]"""
        columns = self.tables[1].size(1)
        parts = self.tables[0][position_ids // columns, 0], self.tables[1][0, position_ids % columns]
        return torch.cat(parts, dim=-1)  # [L,E]


class Reformer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.position = AxialPositions(c)
        self.layers = nn.ModuleList(ReversibleLayer(c, kind) for kind in c.layers)
        self.norm = nn.LayerNorm(2 * c.d_model, c.eps)
        self.task_head = nn.ModuleDict({"out": nn.Linear(2 * c.d_model, c.vocab_size)})

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token that comes after each"""
        x1 = x2 = self.embed(input_ids) + self.position(torch.arange(input_ids.size(1)))  # [B,L,E]
        for layer in self.layers:
            x1, x2 = layer(x1, x2)  # [B,L,E]
        return self.task_head["out"](self.norm(torch.cat([x1, x2], dim=-1)))  # [B,L,V]

    @torch.no_grad()
    def generate(self, input_ids: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids [B,L] -> [B,L+max_new_tokens]: greedy decoding; each step hashes the whole text again"""
        for _ in range(max_new_tokens):
            input_ids = torch.cat([input_ids, self(input_ids)[:, -1].argmax(-1, keepdim=True)], dim=1)  # [B,L+1]
        return input_ids


MODEL = Reformer
