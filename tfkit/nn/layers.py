"""The 2017 transformer assembled from its parts (Vaswani et al. 2017, figure 1), written to be read.

`tfkit.models.transformer` is the version for training; a test holds the two equal.
"""

import math

import torch
from torch import Tensor, nn

from .attention import MultiHeadAttention
from .feed_forward import FeedForward
from .masks import decoder_mask, padding_mask
from .positions import sinusoidal_positions


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each followed by a residual connection and a norm (post-norm).

    Submodules self_attn: MultiHeadAttention, ff: FeedForward, norm1, norm2: nn.LayerNorm.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x [B,S,E], mask broadcastable to [B,H,S,S] -> [B,S,E]"""
        x = self.norm1(x + self.self_attn(x, x, x, mask)[0])
        return self.norm2(x + self.ff(x))


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention over the encoder's output, feed-forward, each with residual and norm.

    Submodules self_attn, cross_attn: MultiHeadAttention, ff: FeedForward, norm1, norm2, norm3: nn.LayerNorm.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.cross_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(
        self, x: Tensor, memory: Tensor, self_mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        """x [B,T,E], memory [B,S,E], self_mask to [B,H,T,T], memory_mask to [B,H,T,S] -> [B,T,E]"""
        x = self.norm1(x + self.self_attn(x, x, x, self_mask)[0])
        x = self.norm2(x + self.cross_attn(x, memory, memory, memory_mask)[0])
        return self.norm3(x + self.ff(x))


def shift_right(ids: Tensor, start_id: int) -> Tensor:
    """The decoder's input when the labels are `ids`: the start symbol, then all ids but the last.

    ids [B,T] -> [B,T]
    """
    start = torch.full_like(ids[:, :1], start_id)
    return torch.cat([start, ids[:, :-1]], dim=1)


class Seq2SeqTransformer(nn.Module):
    """Embeddings times sqrt(d_model) plus sinusoidal positions, encoder, decoder, output projection; nothing is shared.

    Submodules: src_embed, tgt_embed (nn.Embedding), encoder, decoder (nn.ModuleList of n_layers), out_proj (nn.Linear).
    """

    def __init__(
        self, src_vocab: int, tgt_vocab: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, pad_id: int
    ) -> None:
        super().__init__()
        self.d_model, self.pad_id = d_model, pad_id
        self.src_embed = nn.Embedding(src_vocab, d_model)
        self.tgt_embed = nn.Embedding(tgt_vocab, d_model)
        self.encoder = nn.ModuleList([EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers)])
        self.out_proj = nn.Linear(d_model, tgt_vocab)

    def embed(self, table: nn.Embedding, ids: Tensor) -> Tensor:
        """ids [B,L] -> [B,L,E]"""
        x = table(ids) * math.sqrt(self.d_model)
        return x + sinusoidal_positions(ids.size(1), self.d_model).to(x)

    def encode(self, src: Tensor) -> Tensor:
        """src [B,S] -> memory [B,S,E]"""
        x = self.embed(self.src_embed, src)
        mask = padding_mask(src, self.pad_id)
        for layer in self.encoder:
            x = layer(x, mask)
        return x

    def decode(self, tgt_in: Tensor, memory: Tensor, src: Tensor) -> Tensor:
        """tgt_in [B,T], memory [B,S,E], src [B,S] (its padding is hidden) -> logits [B,T,V]"""
        x = self.embed(self.tgt_embed, tgt_in)
        self_mask = decoder_mask(tgt_in, self.pad_id)
        memory_mask = padding_mask(src, self.pad_id)
        for layer in self.decoder:
            x = layer(x, memory, self_mask, memory_mask)
        return self.out_proj(x)

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """src [B,S], tgt_in [B,T] -> logits [B,T,V]"""
        return self.decode(tgt_in, self.encode(src), src)
