"""Funnel-Transformer (Dai et al. 2020, arXiv:2006.03236): a text need not stay as long as it was.

Adds to BERT: layers stand in blocks, and before each block but the first, neighbours are pooled into one (the first
token stays apart): in the queries first, so that the shorter sequence attends to the longer one. A decoder repeats the
last states to the full length, adds those of the first block, and runs a few layers more. Positions are distances.

Shapes: B sentences, L tokens, Q queries and K keys (L, or halves of it), E = d_model, H = n_heads, D = d_head,
V = vocab_size.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

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


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads = c.n_heads
        self.q_proj = nn.Linear(c.d_model, c.n_heads * c.d_head, bias=False)
        self.k_proj = nn.Linear(c.d_model, c.n_heads * c.d_head)
        self.v_proj = nn.Linear(c.d_model, c.n_heads * c.d_head)
        self.o_proj = nn.Linear(c.n_heads * c.d_head, c.d_model)
        self.by_content = nn.Parameter(torch.zeros(c.n_heads, c.d_head))  # what every query asks of a token,
        self.by_distance = nn.Parameter(torch.zeros(c.n_heads, c.d_head))  # of a distance,
        self.by_type = nn.Parameter(torch.zeros(c.n_heads, c.d_head))  # and of a sentence
        self.waves = nn.Parameter(torch.zeros(c.d_model, c.n_heads, c.d_head))  # from distances to keys
        self.types = nn.Parameter(torch.zeros(2, c.n_heads, c.d_head))  # keys of "another sentence", "the same"

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,H*D] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, source: Tensor, mask: Tensor, distance: Tensor, same_type: Tensor) -> Tensor:
        """x [B,Q,E] asks, source [B,K,E] is attended to, mask bool [B,K], distance [Q,K], same_type bool [B,Q,K]
        -> [B,Q,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,Q,D]
        k = self.split_heads(self.k_proj(source))  # [B,H,K,D]
        v = self.split_heads(self.v_proj(source))  # [B,H,K,D]
        encodings = distance_encodings(distance, x.size(-1)).to(x.dtype)  # [Q,K,E]
        content = (q + self.by_content[:, None]) @ k.transpose(-2, -1)  # [B,H,Q,K]
        r = torch.einsum("qke,ehd->hqkd", encodings, self.waves)  # [H,Q,K,D]
        position = torch.einsum("bhqd,hqkd->bhqk", q + self.by_distance[:, None], r)  # [B,H,Q,K]
        other, same = torch.einsum("bhqd,thd->tbhq", q + self.by_type[:, None], self.types)[..., None]  # [B,H,Q,1]
        kind = torch.where(same_type[:, None], same, other)  # [B,H,Q,K]
        placed = torch.ones_like(distance, dtype=torch.bool)  # [Q,K]
        placed[0], placed[:, 0] = False, False  # the first token has neither place nor sentence
        scores = (content + (position + kind) * placed) / math.sqrt(q.size(-1))  # [B,H,Q,K]
        weights = scores.masked_fill(~mask[:, None, None], float("-inf")).softmax(-1)  # [B,H,Q,K], rows sum to 1
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

    def forward(self, x: Tensor, source: Tensor, mask: Tensor, distance: Tensor, same_type: Tensor) -> Tensor:
        """x [B,Q,E], source [B,K,E], mask bool [B,K], distance [Q,K], same_type bool [B,Q,K] -> [B,Q,E]"""
        x = self.norm1(x + self.attn(x, source, mask, distance, same_type))
        return self.norm2(x + self.ff(x))


def pairs(x: Tensor) -> Tensor:
    """[B,L,...] -> [B,L,...]: the first twice and the last not at all, so that no other shares a pair with the first"""
    return torch.cat([x[:, :1], x[:, :-1]], dim=1)


def pool(x: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x [B,L,E], types [B,L], mask bool [B,L] -> half of each; where padding took part, none may look"""
    x = F.avg_pool1d(pairs(x).transpose(1, 2), 2, ceil_mode=True).transpose(1, 2)  # [B,L/2,E]
    mask = F.pad(pairs(mask), (0, mask.size(1) % 2), value=True)  # [B,L], even
    return x, pairs(types)[:, ::2], mask.unflatten(1, (-1, 2)).all(-1)  # [B,L/2,E], [B,L/2], [B,L/2]


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
        self.top = LMHead(c)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """input_ids, token_type_ids [B,L], attention_mask [B,L], 1 = a token, 0 = padding -> logits [B,L,V]"""
        x = self.embed.norm(self.embed.tokens(input_ids))  # [B,L,E]
        types, mask, place = token_type_ids, attention_mask.bool(), torch.arange(x.size(1))  # [B,L], [B,L], [L]
        for number, block in enumerate(self.layers):
            source = x, mask, types, place  # the first layer of a block attends to the longer sequence
            if number:
                x, types, mask = pool(x, types, mask)  # [B,Q,E], [B,Q], [B,Q]; Q is half as many as before
                place = 1 + 2**number * (torch.arange(x.size(1)) - 1)  # [Q]: where the first of each group stood
            for layer in block.children():
                x = self.run(layer, x, types, place, *source)  # [B,Q,E]
                source = x, mask, types, place
            if number == 0:
                first = x  # [B,L,E]
        times, length = 2 ** (len(self.layers) - 1), input_ids.size(1)
        rest = F.pad(x[:, 1:].repeat_interleave(times, dim=1), (0, 0, 0, times - 1))  # of the first there is one
        x = torch.cat([x[:, :1], rest[:, : length - 1]], dim=1) + first  # [B,L,E]
        mask, place = attention_mask.bool(), torch.arange(length)  # [B,L], [L]
        for layer in self.decoder:
            x = self.run(layer, x, token_type_ids, place, x, mask, token_type_ids, place)  # [B,L,E]
        return x @ self.embed.tokens.weight.T + self.top.bias  # [B,L,V]

    def run(
        self, layer: nn.Module, x: Tensor, types: Tensor, place: Tensor,
        source: Tensor, source_mask: Tensor, source_types: Tensor, source_place: Tensor,
    ) -> Tensor:  # fmt: skip
        """x [B,Q,E], types [B,Q], place [Q]; the same of the source [B,K,E], and its mask [B,K] -> [B,Q,E]"""
        distance = place[:, None] - source_place  # [Q,K]
        return layer(x, source, source_mask, distance, types[:, :, None] == source_types[:, None])


MODEL = Funnel
