"""DeBERTa (He et al. 2020, arXiv:2006.03654): separate vectors for content and position.

Adds to BERT: scores are sums of content to content, content to distance, and distance to content, where distances have
keys and queries of their own; so the embeddings contain no positions. For masked language modelling absolute positions
are added late: the last layer is run emd_steps times more on its input, with queries from that input plus positions
(the enhanced mask decoder; the published models were trained with 2 steps, and the published code runs them with none).

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size, K = max_relative_positions.
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
    max_length: int = 512
    max_relative_positions: int = 512
    emd_steps: int = 2
    eps: float = 1e-7
    pad_token_id: int = 0


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.norm = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """input_ids, attention_mask [B,L] -> [B,L,E], zero where padding is"""
        return self.norm(self.tokens(input_ids)) * attention_mask[..., None]  # [B,L,E]


class DisentangledAttention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads, self.furthest = c.n_heads, c.max_relative_positions
        self.qkv_proj = nn.Linear(c.d_model, 3 * c.d_model, bias=False)
        self.q_bias = nn.Parameter(torch.zeros(c.d_model))
        self.v_bias = nn.Parameter(torch.zeros(c.d_model))
        self.k_distance = nn.Linear(c.d_model, c.d_model, bias=False)
        self.q_distance = nn.Linear(c.d_model, c.d_model)
        self.o_proj = nn.Linear(c.d_model, c.d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, query: Tensor, mask: Tensor, distances: Tensor) -> Tensor:
        """x, query [B,L,E], mask bool [B,1,L,L], True for pairs of tokens, distances [2K,E] -> [B,L,E]"""
        k, v = self.split_heads(self.qkv_proj(x)).chunk(3, dim=-1)[1:]  # [B,H,L,D]: a head's three are adjacent
        q = self.split_heads(self.qkv_proj(query)).chunk(3, dim=-1)[0]  # [B,H,L,D]
        q = q + self.split_heads(self.q_bias[None, None])  # [B,H,L,D]
        v = v + self.split_heads(self.v_bias[None, None])  # [B,H,L,D]
        kr = self.split_heads(self.k_distance(distances)[None])  # [1,H,2K,D]
        qr = self.split_heads(self.q_distance(distances)[None])  # [1,H,2K,D]
        i, j = torch.arange(x.size(1))[:, None], torch.arange(x.size(1))  # [L,1] of queries, [L] of keys
        distance = (i - j + self.furthest).clamp(0, 2 * self.furthest - 1)  # [L,L]
        content_to_content = q @ k.transpose(-2, -1)  # [B,H,L,L]
        content_to_position = (q @ kr.transpose(-2, -1))[:, :, i, distance]  # [B,H,L,2K] -> [B,H,L,L]
        position_to_content = (k @ qr.transpose(-2, -1))[:, :, j, distance]  # [B,H,L,2K] -> [B,H,L,L]
        scores = (content_to_content + content_to_position + position_to_content) / math.sqrt(3 * q.size(-1))
        weights = scores.masked_fill(~mask, torch.finfo(x.dtype).min).softmax(-1)  # [B,H,L,L], each row sums to 1
        output = weights @ v  # [B,H,L,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,L,E]


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
        self.attn = DisentangledAttention(c)
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, query: Tensor, mask: Tensor, distances: Tensor) -> Tensor:
        """x, query [B,L,E] (the same but in the mask decoder), mask bool [B,1,L,L], distances [2K,E] -> [B,L,E]"""
        x = self.norm1(query + self.attn(x, query, mask, distances))  # [B,L,E]
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


class DeBERTa(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.distances = nn.Embedding(2 * c.max_relative_positions, c.d_model)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.late_positions = nn.Embedding(c.max_length, c.d_model)
        self.emd_steps = c.emd_steps
        self.task_head = MaskedLMHead(c)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """input_ids [B,L], attention_mask [B,L], 1 = a token, 0 = padding -> logits [B,L,V]"""
        is_token, distances = attention_mask.bool(), self.distances.weight  # [B,L], [2K,E]
        mask = is_token[:, None, None] & is_token[:, None, :, None]  # [B,1,L,L]
        x = below = self.embed(input_ids, attention_mask)  # [B,L,E]
        for layer in self.layers:
            below, x = x, layer(x, x, mask, distances)  # [B,L,E]: below is what the last layer read
        x = below + self.late_positions(torch.arange(input_ids.size(1)))  # [B,L,E]: the mask decoder begins
        for _ in range(self.emd_steps):
            x = self.layers[-1](below, x, mask, distances)  # [B,L,E]
        return self.task_head(x, self.embed.tokens.weight)  # [B,L,V]


MODEL = DeBERTa
