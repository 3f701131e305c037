"""DPR (Karpukhin et al. 2020, arXiv:2004.04906): passages are found by inner products of dense vectors.

Adds to BERT: two of them, one for questions and one for passages. The first token's state is the vector of the whole
text, and the inner product of two vectors is the relevance of the passage. They are trained so that each question finds
its own passage among all passages of the batch, and one hard negative for each question, which shares words with it but
lacks the answer.
Left out: the reader, a third BERT, which finds the answer within a passage.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, C passages.
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
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int = 3072
    max_length: int = 512
    n_types: int = 2
    eps: float = 1e-12
    pad_token_id: int = 0


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.positions = nn.Embedding(c.max_length, c.d_model)
        self.types = nn.Embedding(c.n_types, c.d_model)
        self.norm = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        """input_ids, token_type_ids [B,L] -> [B,L,E]"""
        position_ids = torch.arange(input_ids.size(1))  # [L]
        x = self.tokens(input_ids) + self.positions(position_ids) + self.types(token_type_ids)  # [B,L,E]
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


class DPR(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """input_ids, token_type_ids [B,L], attention_mask [B,L], 1 = a token, 0 = padding -> vectors of texts [B,E]"""
        mask = attention_mask.bool()[:, None, None]  # [B,1,1,L]
        x = self.embed(input_ids, token_type_ids)  # [B,L,E]
        for layer in self.layers:
            x = layer(x, mask)  # [B,L,E]
        return x[:, 0]  # [B,E]: the state of the first token


def in_batch_loss(questions: Tensor, passages: Tensor) -> Tensor:
    """questions [B,E], passages [C,E], of which the first B are theirs, the others hard negatives -> scalar"""
    scores = questions @ passages.T  # [B,C]: how well each passage fits each question
    return F.cross_entropy(scores, torch.arange(len(questions)))


MODEL = DPR
