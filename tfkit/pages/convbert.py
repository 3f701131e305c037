"""ConvBERT (Jiang et al. 2020, arXiv:2008.02496): half of the heads become convolutions, as many heads attend locally.

Adds to ELECTRA: fewer attention heads, over half of the width; beside each is a convolution over the neighbours of a
token, whose kernel is computed, at each position, from the query times a summary of the span around it (span-based
dynamic convolution). It is trained as ELECTRA is; this page has the generator's head.
Left out: the grouped feed-forward network of the medium-small model.

Shapes: B sentences, L tokens, E = d_model, H = n_heads / head_ratio heads that attend, D = E / 2H, W =
conv_kernel_size, N = d_embed, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 30522
    d_embed: int = 128
    d_model: int = 256
    n_layers: int = 12
    n_heads: int = 4
    head_ratio: int = 2
    conv_kernel_size: int = 9
    d_ff: int = 1024
    max_length: int = 512
    n_types: int = 2
    eps: float = 1e-12
    pad_token_id: int = 1


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_embed, padding_idx=c.pad_token_id)
        self.positions = nn.Embedding(c.max_length, c.d_embed)
        self.types = nn.Embedding(c.n_types, c.d_embed)
        self.norm = nn.LayerNorm(c.d_embed, c.eps)
        self.embed_proj = nn.Linear(c.d_embed, c.d_model)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        """input_ids, token_type_ids [B,L] -> [B,L,E]"""
        position_ids = torch.arange(input_ids.size(1))  # [L]
        x = self.tokens(input_ids) + self.positions(position_ids) + self.types(token_type_ids)  # [B,L,N]
        return self.embed_proj(self.norm(x))  # [B,L,E]


class SpanSummary(nn.Module):
    """A convolution in each column over the neighbours of a token, and then a mixture of the columns"""

    def __init__(self, c: Config) -> None:
        super().__init__()
        size, half = c.conv_kernel_size, c.d_model // 2
        self.depthwise = nn.Conv1d(c.d_model, c.d_model, size, groups=c.d_model, padding=size // 2, bias=False)
        self.pointwise = nn.Conv1d(c.d_model, half, 1, bias=False)
        self.bias = nn.Parameter(torch.zeros(half, 1))

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E/2]"""
        return (self.pointwise(self.depthwise(x.transpose(1, 2))) + self.bias).transpose(1, 2)


class MixedAttention(nn.Module):
    """Attention heads, and the same number of convolution heads; each kind has half of the width."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads, half = c.n_heads // c.head_ratio, c.d_model // 2
        self.q_proj = nn.Linear(c.d_model, half)
        self.k_proj = nn.Linear(c.d_model, half)
        self.v_proj = nn.Linear(c.d_model, half)
        self.span = SpanSummary(c)
        self.kernel = nn.Linear(half, self.n_heads * c.conv_kernel_size)
        self.near = nn.Linear(c.d_model, half)
        self.o_proj = nn.Linear(c.d_model, c.d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E/2] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def convolve(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]: each token's neighbours, weighted by a kernel that is computed from its query and its
        span"""
        kernel = self.kernel(self.span(x) * self.q_proj(x))  # [B,L,H*W]
        kernel = self.split_heads(kernel).softmax(-1)  # [B,H,L,W]
        size = kernel.size(-1)
        values = F.pad(self.split_heads(self.near(x)), (0, 0, size // 2, size // 2))  # [B,H,L+W-1,D]
        neighbours = values.unfold(2, size, 1)  # [B,H,L,D,W]
        return (neighbours @ kernel[..., None]).squeeze(-1)  # [B,H,L,D]

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,L], True where a token may be attended to -> [B,L,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,L,D]
        k = self.split_heads(self.k_proj(x))  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,L,L], each row sums to 1
        output = torch.cat([weights @ v, self.convolve(x)], dim=1)  # [B,2H,L,D]
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
        self.attn = MixedAttention(c)
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
        self.dense = nn.Linear(c.d_model, c.d_embed)
        self.norm = nn.LayerNorm(c.d_embed, c.eps)
        self.bias = nn.Parameter(torch.zeros(c.vocab_size))

    def forward(self, x: Tensor, embedding: Tensor) -> Tensor:
        """x [B,L,E], embedding [V,N] -> logits [B,L,V]"""
        x = self.norm(F.gelu(self.dense(x)))  # [B,L,N]
        return x @ embedding.T + self.bias  # [B,L,V]


class ConvBERT(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.task_head = MaskedLMHead(c)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """input_ids, token_type_ids [B,L], attention_mask [B,L], 1 = a token, 0 = padding -> logits [B,L,V]"""
        mask = attention_mask.bool()[:, None, None]  # [B,1,1,L]
        x = self.embed(input_ids, token_type_ids)  # [B,L,E]
        for layer in self.layers:
            x = layer(x, mask)  # [B,L,E]
        return self.task_head(x, self.embed.tokens.weight)  # [B,L,V]


MODEL = ConvBERT
