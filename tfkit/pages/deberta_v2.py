"""DeBERTa V2 (He et al. 2021, github.com/microsoft/DeBERTa; V3: arXiv:2111.09543).

Adds to DeBERTa: larger distances share logarithmic buckets; distances are projected to keys and queries by the same
matrices as tokens, after a norm; beside the first layer, a convolution over the embeddings (V3 has none, and is trained
by replaced-token detection, as ELECTRA is).
Left out: the enhanced mask decoder, which is the same as in DeBERTa.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size, K = position_buckets.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 128100
    d_model: int = 1536
    n_layers: int = 24
    n_heads: int = 24
    d_ff: int = 6144
    max_relative_positions: int = 512
    position_buckets: int = 256
    conv_kernel_size: int = 3
    eps: float = 1e-7
    pad_token_id: int = 0


def relative_bucket(distance: Tensor, n_buckets: int, furthest: int) -> Tensor:
    """distance = query - key [L,L] -> bucket [L,L], signed: small distances have one each, larger ones share"""
    exact = n_buckets // 2
    log_ratio = (distance.abs().clamp(min=exact) / exact).log() / math.log((furthest - 1) / exact)  # [L,L], 0 to 1
    far = (log_ratio * (exact - 1)).ceil().long() + exact  # [L,L]
    return torch.where(distance.abs() <= exact, distance, far * distance.sign())


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
        self.n_heads, self.n_buckets, self.furthest = c.n_heads, c.position_buckets, c.max_relative_positions
        self.q_proj = nn.Linear(c.d_model, c.d_model)
        self.k_proj = nn.Linear(c.d_model, c.d_model)
        self.v_proj = nn.Linear(c.d_model, c.d_model)
        self.o_proj = nn.Linear(c.d_model, c.d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor, distances: Tensor) -> Tensor:
        """x [B,L,E], mask bool [B,1,L,L], True for pairs of tokens, distances [2K,E] -> [B,L,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,L,D]
        k = self.split_heads(self.k_proj(x))  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
        kr = self.split_heads(self.k_proj(distances)[None])  # [1,H,2K,D]
        qr = self.split_heads(self.q_proj(distances)[None])  # [1,H,2K,D]
        i, j = torch.arange(x.size(1))[:, None], torch.arange(x.size(1))  # [L,1] of queries, [L] of keys
        bucket = relative_bucket(i - j, self.n_buckets, self.furthest)  # [L,L]
        bucket = (bucket + self.n_buckets).clamp(0, 2 * self.n_buckets - 1)  # [L,L]
        content_to_content = q @ k.transpose(-2, -1)  # [B,H,L,L]
        content_to_position = (q @ kr.transpose(-2, -1))[:, :, i, bucket]  # [B,H,L,2K] -> [B,H,L,L]
        position_to_content = (k @ qr.transpose(-2, -1))[:, :, j, bucket]  # [B,H,L,2K] -> [B,H,L,L]
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

    def forward(self, x: Tensor, is_token: Tensor, distances: Tensor) -> Tensor:
        """x [B,L,E], is_token bool [B,L], distances [2K,E] -> [B,L,E]"""
        mask = is_token[:, None, None] & is_token[:, None, :, None]  # [B,1,L,L]
        x = self.norm1(x + self.attn(x, mask, distances))  # [B,L,E]
        return self.norm2(x + self.ff(x))


class FirstLayer(Layer):
    """A convolution beside it, over the same embeddings"""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.conv = nn.Conv1d(c.d_model, c.d_model, c.conv_kernel_size, padding=c.conv_kernel_size // 2)
        self.norm3 = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, is_token: Tensor, distances: Tensor) -> Tensor:
        """x [B,L,E], is_token bool [B,L], distances [2K,E] -> [B,L,E], zero where padding is"""
        near = self.conv(x.transpose(1, 2)).transpose(1, 2) * is_token[..., None]  # [B,L,E]
        x = super().forward(x, is_token, distances)
        return self.norm3(x + F.gelu(near)) * is_token[..., None]  # [B,L,E]


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


class DeBERTaV2(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.distances = nn.Embedding(2 * c.position_buckets, c.d_model)
        self.norm_distances = nn.LayerNorm(c.d_model, c.eps)
        self.layers = nn.ModuleList([FirstLayer(c), *(Layer(c) for _ in range(c.n_layers - 1))])
        self.task_head = MaskedLMHead(c)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """input_ids [B,L], attention_mask [B,L], 1 = a token, 0 = padding -> logits [B,L,V]"""
        is_token, distances = attention_mask.bool(), self.norm_distances(self.distances.weight)  # [B,L], [2K,E]
        x = self.embed(input_ids, attention_mask)  # [B,L,E]
        for layer in self.layers:
            x = layer(x, is_token, distances)  # [B,L,E]
        return self.task_head(x, self.embed.tokens.weight)  # [B,L,V]


MODEL = DeBERTaV2
