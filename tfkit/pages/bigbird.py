"""BigBird (Zaheer et al. 2020, arXiv:2007.14062): BERT for long texts, with block-sparse attention.

Adds to BERT: the text is cut into blocks; a block attends to itself and its neighbours, to the first and the last
block, which attend to all blocks, and to a few random ones, so that time and memory can grow linearly with the length.
Left out: the block-sparse kernel (this page computes all scores and masks them), NumPy's random numbers, separate draws
for each head, and full attention for texts of up to (5 + 2 * n_random) * block tokens.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size, N blocks.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 50358
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int = 3072
    max_length: int = 4096
    block: int = 64
    n_random: int = 3
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


def block_counts(blocks: int, n_random: int, draw: bool) -> Tensor:
    """How often each block of queries attends to each block of keys -> [N,N]

    Blocks see themselves, their neighbours, and the first and the last block, which see all. In training each of the
    others sees n_random more, drawn from those that it does not see; later the first block counts that much more.
    """
    block = torch.arange(blocks)
    counts = ((block[:, None] - block).abs() <= 1).double()  # [N,N]
    counts[:, [0, -1]] = counts[[0, -1]] = 1
    for i in range(1, blocks - 1):
        unseen = (counts[i] == 0).nonzero().squeeze(-1)  # [U]
        if draw:
            counts[i, unseen[torch.randperm(len(unseen))[:n_random]]] = 1
        else:
            counts[i, 0] += n_random
    return counts


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

    def forward(self, x: Tensor, is_token: Tensor, counts: Tensor) -> Tensor:
        """x [B,L,E], is_token bool [B,L], counts [L,L]: the multiplicity of each key for each query -> [B,L,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,L,D]
        k = self.split_heads(self.k_proj(x))  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        scores = scores + counts.log().to(x.dtype)  # [B,H,L,L]: a key that counts twice has twice the weight, 0 none
        weights = scores.masked_fill(~is_token[:, None, None], -1e30).softmax(-1)  # [B,H,L,L], each row sums to 1
        output = (weights @ v).transpose(1, 2).flatten(2)  # [B,L,E]
        return self.o_proj(output * is_token[..., None])  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.up = nn.Linear(c.d_model, c.d_ff)
        self.down = nn.Linear(c.d_ff, c.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.attn = Attention(c)
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, is_token: Tensor, counts: Tensor) -> Tensor:
        """x [B,L,E], is_token bool [B,L], counts [L,L] -> [B,L,E]"""
        x = self.norm1(x + self.attn(x, is_token, counts))  # [B,L,E]
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
        x = self.norm(F.gelu(self.dense(x), approximate="tanh"))  # [B,L,E]
        return x @ embedding.T + self.bias  # [B,L,V]


class BigBird(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.pooler = nn.Linear(c.d_model, c.d_model)  # in the published files; no token is predicted from it
        self.task_head = MaskedLMHead(c)
        self.config = c

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """input_ids, token_type_ids [B,L], attention_mask [B,L], 1 = a token, 0 = padding -> logits [B,L,V]"""
        c, is_token, length = self.config, attention_mask.bool(), input_ids.size(1)
        block_of = torch.arange(length) // c.block  # [L]
        x = self.embed(input_ids, token_type_ids)  # [B,L,E]
        for layer in self.layers:
            counts = block_counts(int(block_of[-1]) + 1, c.n_random, draw=self.training)  # [N,N]; drawn for each layer
            x = layer(x, is_token, counts[block_of][:, block_of])  # [B,L,E]
        return self.task_head(x, self.embed.tokens.weight)  # [B,L,V]


MODEL = BigBird
