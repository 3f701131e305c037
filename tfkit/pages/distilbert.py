"""DistilBERT (Sanh et al. 2019, arXiv:1910.01108): half of BERT's layers, distilled from BERT.

Adds to BERT: half as many layers, initialised from every second one of BERT's; no sentence types. It learns from BERT's
predictions (a soft cross-entropy at a temperature), from masked tokens, and from the cosine between its hidden states
and BERT's.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 30522
    d_model: int = 768
    n_layers: int = 6
    n_heads: int = 12
    d_ff: int = 3072
    max_length: int = 512
    eps: float = 1e-12
    pad_token_id: int = 0


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.positions = nn.Embedding(c.max_length, c.d_model)
        self.norm = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> [B,L,E]"""
        position_ids = torch.arange(input_ids.size(1))  # [L]
        x = self.tokens(input_ids) + self.positions(position_ids)  # [B,L,E]
        return self.norm(x)


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

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,L], True where a token may be attended to -> [B,L,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,L,D]
        k = self.split_heads(self.k_proj(x))  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
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
        return self.down(F.gelu(self.up(x)))


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.attn = Attention(c)
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,L] -> [B,L,E]"""
        x = self.norm1(x + self.attn(x, mask))  # [B,L,E]
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


class DistilBERT(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.task_head = MaskedLMHead(c)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """input_ids [B,L], attention_mask [B,L], 1 = a token, 0 = padding -> logits [B,L,V]"""
        mask = attention_mask.bool()[:, None, None]  # [B,1,1,L]
        x = self.embed(input_ids)  # [B,L,E]
        for layer in self.layers:
            x = layer(x, mask)  # [B,L,E]
        return self.task_head(x, self.embed.tokens.weight)  # [B,L,V]


MODEL = DistilBERT
