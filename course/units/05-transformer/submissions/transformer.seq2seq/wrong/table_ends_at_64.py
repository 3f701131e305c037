"""Your positions come out of a table with 64 rows: a text of more words than that does not fit in."""

import math

import torch.nn.functional as F
from tfkit.nn import MultiHeadAttention, decoder_mask, padding_mask, sinusoidal_positions
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.down(F.relu(self.up(x)))


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.self_attn(x, x, x, mask)[0])
        return self.norm2(x + self.ff(x))


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.cross_attn = MultiHeadAttention(d_model, n_heads)
        self.ff = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        x = self.norm1(x + self.self_attn(x, x, x, self_mask)[0])
        x = self.norm2(x + self.cross_attn(x, memory, memory, memory_mask)[0])
        return self.norm3(x + self.ff(x))


class Seq2SeqTransformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers, pad_id):
        super().__init__()
        self.d_model, self.pad_id = d_model, pad_id
        self.src_embed = nn.Embedding(src_vocab, d_model)
        self.tgt_embed = nn.Embedding(tgt_vocab, d_model)
        self.encoder = nn.ModuleList([EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers)])
        self.out_proj = nn.Linear(d_model, tgt_vocab)
        self.register_buffer("positions", sinusoidal_positions(64, d_model), persistent=False)

    def embed(self, table, ids):
        x = table(ids) * math.sqrt(self.d_model)
        return x + self.positions[: ids.size(1)].to(x)

    def encode(self, src):
        x = self.embed(self.src_embed, src)
        mask = padding_mask(src, self.pad_id)
        for layer in self.encoder:
            x = layer(x, mask)
        return x

    def decode(self, tgt_in, memory, src):
        x = self.embed(self.tgt_embed, tgt_in)
        self_mask = decoder_mask(tgt_in, self.pad_id)
        memory_mask = padding_mask(src, self.pad_id)
        for layer in self.decoder:
            x = layer(x, memory, self_mask, memory_mask)
        return self.out_proj(x)

    def forward(self, src, tgt_in):
        return self.decode(tgt_in, self.encode(src), src)
