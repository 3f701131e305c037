"""Whisper (Radford et al. 2022, arXiv:2212.04356): speech recognition and translation for 99 languages.

Adds to BART: the source is audio, as a log-mel spectrogram, which two convolutions turn into states; sinusoidal
positions, always 30 seconds of audio, so that there is no padding and no mask; pre-norm with a final norm; keys without
bias.

Shapes: B sounds, M = n_mels, F frames of 10 ms, S = F / 2, T tokens of the target, E = d_model, H = n_heads, D = E / H,
V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 51865
    d_model: int = 384
    n_layers: int = 4
    n_heads: int = 6
    d_ff: int = 1536
    n_mels: int = 80
    max_source_length: int = 1500
    max_length: int = 448
    pad_token_id: int = 50257
    decoder_start_token_id: int = 50258


def sinusoids(length: int, width: int) -> Tensor:
    """-> [length,width]: sines left, cosines right, of frequencies from 1 to 1/10000"""
    half = width // 2
    frequencies = torch.exp(torch.arange(half) * (-math.log(10000) / (half - 1)))  # [half]
    angles = torch.arange(length)[:, None] * frequencies  # [length,half]
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads = c.n_heads
        self.q_proj = nn.Linear(c.d_model, c.d_model)
        self.k_proj = nn.Linear(
            c.d_model, c.d_model, bias=False
        )  # it would add the same number to all scores of a query
        self.v_proj = nn.Linear(c.d_model, c.d_model)
        self.o_proj = nn.Linear(c.d_model, c.d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        """x [B,Q,E]: queries, source [B,K,E]: keys and values, mask bool [Q,K] or None: to all of it -> [B,Q,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,Q,D]
        k = self.split_heads(self.k_proj(source))  # [B,H,K,D]
        v = self.split_heads(self.v_proj(source))  # [B,H,K,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,Q,K]
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))  # [B,H,Q,K]
        output = scores.softmax(-1) @ v  # [B,H,Q,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,Q,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.up = nn.Linear(c.d_model, c.d_ff)
        self.down = nn.Linear(c.d_ff, c.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.gelu(self.up(x)))


class EncoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn, self.norm1 = Attention(c), nn.LayerNorm(c.d_model)
        self.ff, self.norm2 = FeedForward(c), nn.LayerNorm(c.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,S,E] -> [B,S,E]"""
        h = self.norm1(x)  # [B,S,E]
        x = x + self.self_attn(h, h)  # [B,S,E]
        return x + self.ff(self.norm2(x))


class DecoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn, self.norm1 = Attention(c), nn.LayerNorm(c.d_model)
        self.cross_attn, self.norm2 = Attention(c), nn.LayerNorm(c.d_model)
        self.ff, self.norm3 = FeedForward(c), nn.LayerNorm(c.d_model)

    def forward(self, x: Tensor, memory: Tensor, causal_mask: Tensor) -> Tensor:
        """x [B,T,E], memory [B,S,E], causal_mask bool [T,T] -> [B,T,E]"""
        h = self.norm1(x)  # [B,T,E]
        x = x + self.self_attn(h, h, causal_mask)  # [B,T,E]
        x = x + self.cross_attn(self.norm2(x), memory)  # [B,T,E]
        return x + self.ff(self.norm3(x))


class Sinusoids(nn.Module):
    """A position table that is not trained but is in the published files."""

    weight: Tensor

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.register_buffer("weight", sinusoids(c.max_source_length, c.d_model))


class Whisper(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config = c
        self.conv1 = nn.Conv1d(c.n_mels, c.d_model, kernel_size=3, padding=1)
        self.conv2 = nn.Conv1d(c.d_model, c.d_model, kernel_size=3, stride=2, padding=1)  # two frames to a state
        self.encoder_position = Sinusoids(c)
        self.encoder = nn.ModuleList(EncoderLayer(c) for _ in range(c.n_layers))
        self.encoder_final = nn.LayerNorm(c.d_model)
        self.embed = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.decoder_position = nn.Embedding(c.max_length, c.d_model)
        self.decoder = nn.ModuleList(DecoderLayer(c) for _ in range(c.n_layers))
        self.decoder_final = nn.LayerNorm(c.d_model)

    def encode(self, input_features: Tensor) -> Tensor:
        """input_features [B,M,F] -> memory [B,S,E]"""
        x = F.gelu(self.conv1(input_features))  # [B,E,F]
        x = F.gelu(self.conv2(x)).transpose(1, 2)  # [B,S,E]
        x = x + self.encoder_position.weight  # [B,S,E]
        for layer in self.encoder:
            x = layer(x)  # [B,S,E]
        return self.encoder_final(x)

    def decode(self, decoder_input_ids: Tensor, memory: Tensor) -> Tensor:
        """decoder_input_ids [B,T], memory [B,S,E] -> logits [B,T,V] of the token after each"""
        length = decoder_input_ids.size(1)
        causal_mask = torch.ones(length, length, dtype=torch.bool).tril()  # [T,T]
        x = self.embed(decoder_input_ids) + self.decoder_position(torch.arange(length))  # [B,T,E]
        for layer in self.decoder:
            x = layer(x, memory, causal_mask)  # [B,T,E]
        return self.decoder_final(x) @ self.embed.weight.T  # [B,T,V]

    def forward(self, input_features: Tensor, decoder_input_ids: Tensor) -> Tensor:
        """input_features [B,M,F], decoder_input_ids [B,T] -> logits [B,T,V]"""
        return self.decode(decoder_input_ids, self.encode(input_features))

    @torch.no_grad()
    def generate(self, input_features: Tensor, max_new_tokens: int) -> Tensor:
        """input_features [B,M,F] -> [B,1+max_new_tokens]: greedy decoding, after the start token. The tokens of
        language and task would follow it."""
        memory = self.encode(input_features)  # [B,S,E]
        ids = torch.full((len(memory), 1), self.config.decoder_start_token_id)  # [B,1]
        for _ in range(max_new_tokens):
            next_id = self.decode(ids, memory)[:, -1].argmax(-1, keepdim=True)  # [B,1]
            ids = torch.cat([ids, next_id], dim=1)  # [B,T+1]
        return ids


MODEL = Whisper
