"""XLNet (Yang et al. 2019, arXiv:1906.08237): permutation language modelling, bidirectional without mask tokens.

Adds to Transformer-XL: the order of prediction is a mask (perm_mask), so that distances have both signs; a second
stream of states, the query stream, knows the position of the token it predicts and not the token, and attends to the
first, the content stream, which knows both; scores also depend on whether two tokens are in the same segment.
Left out: the memory of earlier segments, which is as in Transformer-XL.

Shapes: B sentences, L tokens, P targets, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 32000
    d_model: int = 1024
    n_layers: int = 24
    n_heads: int = 16
    d_ff: int = 4096
    eps: float = 1e-12


def distance_encodings(length: int, d_model: int) -> Tensor:
    """Sinusoids of the distances L-1 (far behind) … 1-L (far ahead): sines left, cosines right -> [2L-1,E]"""
    distance = torch.arange(length - 1, -length, -1, dtype=torch.float64)[:, None]  # [2L-1,1]
    frequency = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # [E/2]
    return torch.cat([(distance * frequency).sin(), (distance * frequency).cos()], dim=-1)  # [2L-1,E]


class TwoStreamAttention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads = c.n_heads
        shape = c.n_heads, c.d_model // c.n_heads
        self.q_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.k_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.v_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.r_proj = nn.Linear(c.d_model, c.d_model, bias=False)  # keys of the distances
        self.o_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.content_bias = nn.Parameter(torch.zeros(shape))  # u: the content bias shared by all queries
        self.position_bias = nn.Parameter(torch.zeros(shape))  # v: … of a distance
        self.segment_bias = nn.Parameter(torch.zeros(shape))  # s: … of a segment
        self.segment_embed = nn.Parameter(torch.zeros(2, *shape))  # keys of "the same segment", "another one"

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def attend(self, q: Tensor, content: Tensor, mask: Tensor, distances: Tensor, same_segment: Tensor) -> Tensor:
        """q, content [B,L,E], mask, same_segment bool [B,L,L], distances [2L-1,E] -> [B,L,E]"""
        length = q.size(1)
        q = self.split_heads(q)  # [B,H,L,D]
        k, v = self.split_heads(self.k_proj(content)), self.split_heads(self.v_proj(content))  # [B,H,L,D]
        r = self.split_heads(self.r_proj(distances)[None])  # [1,H,2L-1,D]
        token_scores = (q + self.content_bias[:, None]) @ k.transpose(-2, -1)  # [B,H,L,L]
        distance_scores = (q + self.position_bias[:, None]) @ r.transpose(-2, -1)  # [B,H,L,2L-1]
        query, key = torch.arange(length)[:, None], torch.arange(length)  # [L,1], [L]
        distance_scores = distance_scores[:, :, query, key - query + length - 1]  # [B,H,L,L], of distance query - key
        segment_scores = torch.einsum("bhld,shd->sbhl", q + self.segment_bias[:, None], self.segment_embed)  # [2,B,H,L]
        same, other = segment_scores[..., None]  # [B,H,L,1] each
        segment_scores = torch.where(same_segment[:, None], same, other)  # [B,H,L,L]
        scores = (token_scores + distance_scores + segment_scores) / math.sqrt(q.size(-1))  # [B,H,L,L]
        # the first token of the order attends to nothing in the query stream: its row becomes zeros, and not NaN
        weights = scores.masked_fill(~mask[:, None], -1e30).softmax(-1) * mask[:, None]  # [B,H,L,L]
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))  # [B,L,E]


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
        self.attn = TwoStreamAttention(c)
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """[...,E] -> [...,E]: the same for both streams"""
        x = self.norm1(x + attended)  # [...,E]
        return self.norm2(x + self.ff(x))

    def forward(
        self, h: Tensor, g: Tensor, target_mapping: Tensor, mask: Tensor, distances: Tensor, same_segment: Tensor
    ) -> tuple[Tensor, Tensor]:
        """content stream h [B,L,E], query stream g [B,P,E], target_mapping [B,P,L], mask bool [B,L,L] -> h, g"""
        itself = torch.eye(h.size(1), dtype=torch.bool)  # [L,L]
        content = self.attn.attend(self.attn.q_proj(h), h, mask | itself, distances, same_segment)  # [B,L,E]
        q = target_mapping.transpose(1, 2) @ self.attn.q_proj(g)  # [B,L,E]: each target's query at its position
        query = target_mapping @ self.attn.attend(q, h, mask, distances, same_segment)  # [B,P,E]
        return self.finish(h, content), self.finish(g, query)


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, c.d_model))  # the first state of the query stream


class LMHead(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(c.vocab_size))


class XLNet(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.task_head = LMHead(c)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor, perm_mask: Tensor,
        target_mapping: Tensor,
    ) -> Tensor:  # fmt: skip
        """input_ids, attention_mask, token_type_ids [B,L]; perm_mask [B,L,L], 1 where i may not see j;
        target_mapping [B,P,L], 1 at the position of target p -> logits [B,P,V] of the tokens at the targets"""
        h = self.embed.tokens(input_ids)  # [B,L,E]
        g = self.embed.mask_token.expand(h.size(0), target_mapping.size(1), -1)  # [B,P,E]
        mask = (perm_mask == 0) & attention_mask.bool()[:, None]  # [B,L,L]
        distances = distance_encodings(h.size(1), h.size(2)).to(h.dtype)  # [2L-1,E]
        same_segment = token_type_ids[:, :, None] == token_type_ids[:, None]  # [B,L,L]
        for layer in self.layers:
            h, g = layer(h, g, target_mapping.to(h.dtype), mask, distances, same_segment)  # [B,L,E], [B,P,E]
        return g @ self.embed.tokens.weight.T + self.task_head.bias  # [B,P,V]

    @torch.no_grad()
    def generate(self, input_ids: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids [B,L] -> [B,L+max_new_tokens]: appends a token that no position may see, and predicts it"""
        for _ in range(max_new_tokens):
            ids = F.pad(input_ids, (0, 1))  # [B,L+1]
            last = F.one_hot(torch.full_like(ids[:, :1], ids.size(1) - 1), ids.size(1))  # [B,1,L+1]
            segment = torch.zeros_like(ids)  # [B,L+1]
            logits = self(ids, torch.ones_like(ids), segment, last.expand(-1, ids.size(1), -1), last)  # [B,1,V]
            input_ids = torch.cat([input_ids, logits.argmax(-1)], dim=1)  # [B,L+1]
        return input_ids


MODEL = XLNet
