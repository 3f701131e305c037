"""Transformer-XL (Dai et al. 2019, arXiv:1901.02860): recurrence over segments, by a memory of earlier states.

Adds to the transformer's decoder: a memory: the states of the previous segment are keys too, without gradients; so
positions are relative distances, with a query bias of their own; all queries see the same number of keys. Words are
sorted by frequency and cut into clusters (adaptive input and softmax): rare ones have narrower embeddings, and p(word)
= p(cluster) p(word | cluster).

Shapes: B sentences, L tokens, M = mem_len, K = M + L keys, E = d_model, H = n_heads, D = d_head, V = vocab_size.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 267735
    cutoffs: Sequence[int] = (20000, 40000, 200000)
    div_val: int = 4
    d_model: int = 1024
    n_layers: int = 18
    n_heads: int = 16
    d_head: int = 64
    d_ff: int = 4096
    mem_len: int = 1600
    clamp_len: int = 1000
    eps: float = 1e-5


class AdaptiveEmbedding(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.edges, self.scale = [0, *c.cutoffs, c.vocab_size], math.sqrt(c.d_model)
        sizes = [end - start for start, end in zip(self.edges[:-1], self.edges[1:], strict=True)]
        widths = [c.d_model // c.div_val**i for i in range(len(sizes))]
        self.tables = nn.ModuleList(nn.Embedding(n, width) for n, width in zip(sizes, widths, strict=True))
        self.embed_proj = nn.ModuleList(nn.Linear(width, c.d_model, bias=False) for width in widths)

    def forward(self, ids: Tensor) -> Tensor:
        """[B,L] -> [B,L,E]"""
        parts = []  # of each cluster, zeros where the token is of another
        for start, end, table, widen in zip(self.edges[:-1], self.edges[1:], self.tables, self.embed_proj, strict=True):
            inside = (ids >= start) & (ids < end)  # [B,L]
            parts.append(widen(table((ids - start).clamp(0, end - start - 1))) * inside[..., None])  # [B,L,E]
        return torch.stack(parts).sum(0) * self.scale  # [B,L,E]


class AdaptiveSoftmax(nn.Module):
    """The embeddings are the output matrices too, and so are the matrices that widen them, but for the first one."""

    def __init__(self, c: Config, embed: AdaptiveEmbedding) -> None:
        super().__init__()
        self.clusters = nn.Linear(c.d_model, len(c.cutoffs))  # the rare clusters are entries among the frequent words
        self.biases = nn.ParameterList(torch.zeros(len(table)) for table in embed.tables.parameters())
        self.projections = nn.ModuleDict({"0": nn.Linear(c.d_model, c.d_model, bias=False)})

    def forward(self, x: Tensor, embed: AdaptiveEmbedding) -> Tensor:
        """[B,L,E] -> log-probabilities [B,L,V]"""
        tables, matrices = (
            list(embed.tables.parameters()),
            list(embed.embed_proj.parameters()),
        )  # [Vi,Ei] and [E,Ei] each
        y = x @ self.projections["0"].get_parameter("weight")  # [B,L,E]
        words = y @ tables[0].T + self.biases[0]  # [B,L,V0]
        first = torch.cat([words, self.clusters(y)], dim=-1).log_softmax(-1)  # [B,L,V0+clusters]
        parts = [first[..., : words.size(-1)]]
        for i in range(1, len(tables)):
            scores = x @ matrices[i] @ tables[i].T + self.biases[i]  # [B,L,Vi]
            parts.append(first[..., words.size(-1) + i - 1, None] + scores.log_softmax(-1))  # [B,L,Vi]
        return torch.cat(parts, dim=-1)


class RelativeAttention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads, self.mem_len, self.clamp_len = c.n_heads, c.mem_len, c.clamp_len
        inner = c.n_heads * c.d_head
        self.q_proj = nn.Linear(c.d_model, inner, bias=False)
        self.k_proj = nn.Linear(c.d_model, inner, bias=False)
        self.v_proj = nn.Linear(c.d_model, inner, bias=False)
        self.r_proj = nn.Linear(c.d_model, inner, bias=False)  # keys of the distances
        self.o_proj = nn.Linear(inner, c.d_model, bias=False)
        self.content_bias = nn.Parameter(torch.zeros(c.n_heads, c.d_head))  # u: the content bias shared by all queries
        self.position_bias = nn.Parameter(torch.zeros(c.n_heads, c.d_head))  # v: … of a distance

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,H*D] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def encodings(self, keys: int, d_model: int) -> Tensor:
        """Sinusoids of the distances 0 … K-1, those beyond clamp_len alike: sines left, cosines right -> [K,E]"""
        distance = torch.arange(keys, dtype=torch.float64).clamp(max=self.clamp_len)[:, None]  # [K,1]
        frequency = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # [E/2]
        return torch.cat([(distance * frequency).sin(), (distance * frequency).cos()], dim=-1)  # [K,E]

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        """x [B,L,E]: queries; memory [B,M,E] and x: keys and values -> [B,L,E]"""
        source = torch.cat([memory, x], dim=1)  # [B,K,E]
        q = self.split_heads(self.q_proj(x))  # [B,H,L,D]
        k = self.split_heads(self.k_proj(source))  # [B,H,K,D]
        v = self.split_heads(self.v_proj(source))  # [B,H,K,D]
        r = self.split_heads(self.r_proj(self.encodings(source.size(1), x.size(2)).to(x.dtype))[None])  # [1,H,K,D]
        position = torch.arange(source.size(1))  # [K]
        query = torch.arange(x.size(1))[:, None]  # [L,1]
        distance = query + memory.size(1) - position  # [L,K]
        content_bias = (q + self.content_bias[:, None]) @ k.transpose(-2, -1)  # [B,H,L,K]
        position_bias = (q + self.position_bias[:, None]) @ r.transpose(-2, -1)  # [B,H,L,K], a column for each distance
        position_bias = position_bias[:, :, query, distance.clamp(min=0)]  # [B,H,L,K], a column for each key
        scores = (content_bias + position_bias) / math.sqrt(q.size(-1))  # [B,H,L,K]
        mask = (distance >= 0) & (distance < self.mem_len)  # [L,K]: not ahead, and all equally far back
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,L,K], each row sums to 1
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))  # [B,L,E]


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
        self.attn, self.norm1 = RelativeAttention(c), nn.LayerNorm(c.d_model, c.eps)
        self.ff, self.norm2 = FeedForward(c), nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        """x [B,L,E], memory [B,M,E] -> [B,L,E]"""
        x = self.norm1(x + self.attn(x, memory))  # [B,L,E]
        return self.norm2(x + self.ff(x))


class TransformerXL(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config = c
        self.embed = AdaptiveEmbedding(c)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.task_head = AdaptiveSoftmax(c, self.embed)

    def forward(self, input_ids: Tensor, mems: list[Tensor] | None = None) -> tuple[Tensor, list[Tensor]]:
        """input_ids [B,L]; mems: the input of each layer for the previous segment, [B,M,E] each, None before the first
        one -> log-probabilities [B,L,V] of the token after each, mems for the next segment"""
        x, c, after = self.embed(input_ids), self.config, []  # [B,L,E]
        mems = [x.new_zeros(len(x), c.mem_len, c.d_model)] * c.n_layers if mems is None else mems  # [B,M,E] each
        for layer, memory in zip(self.layers, mems, strict=True):
            after.append(torch.cat([memory, x], dim=1)[:, -c.mem_len :].detach())  # [B,M,E]
            x = layer(x, memory)  # [B,L,E]
        return self.task_head(x, self.embed), after

    @torch.no_grad()
    def generate(self, input_ids: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids [B,L] -> [B,L+max_new_tokens]: greedy decoding; a step reads the memory and the last token"""
        scores, mems = self(input_ids)  # [B,L,V]
        for _ in range(max_new_tokens):
            input_ids = torch.cat([input_ids, scores[:, -1].argmax(-1, keepdim=True)], dim=1)  # [B,L+1]
            scores, mems = self(input_ids[:, -1:], mems)  # [B,1,V]
        return input_ids


MODEL = TransformerXL
