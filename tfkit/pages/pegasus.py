"""Pegasus (Zhang et al. 2019, arXiv:1912.08777): pretrained for summarisation by generating removed sentences.

Adds to BART: the norm before each sub-layer and once more after the last, none after the embeddings, which are
multiplied by sqrt(E); sinusoidal positions; ReLU. It is trained on gap sentences: the most important sentences of a
document are masked, and the decoder generates them.

Shapes: B sentences, S tokens of the source, T of the target, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 96103
    d_model: int = 1024
    n_layers: int = 16
    n_heads: int = 16
    d_ff: int = 4096
    pad_token_id: int = 0
    decoder_start_token_id: int = 0


def sinusoidal_positions(length: int, d_model: int) -> Tensor:
    """Sines of all frequencies, from fast to slow, and then the cosines (the transformer interleaves them) -> [L,E]"""
    position = torch.arange(length, dtype=torch.float64)[:, None]  # [L,1]
    frequency = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)  # [E/2]
    angle = position * frequency  # [L,E/2]
    return torch.cat([angle.sin(), angle.cos()], dim=-1).to(torch.get_default_dtype())  # [L,E]


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

    def forward(self, x: Tensor, source: Tensor, mask: Tensor) -> Tensor:
        """x [B,Q,E]: queries, source [B,K,E]: keys and values, mask bool, broadcastable to [B,H,Q,K] -> [B,Q,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,Q,D]
        k = self.split_heads(self.k_proj(source))  # [B,H,K,D]
        v = self.split_heads(self.v_proj(source))  # [B,H,K,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,Q,K]
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,Q,K], each row sums to 1
        output = weights @ v  # [B,H,Q,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,Q,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.up = nn.Linear(c.d_model, c.d_ff)
        self.down = nn.Linear(c.d_ff, c.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.relu(self.up(x)))


class EncoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn, self.norm1 = Attention(c), nn.LayerNorm(c.d_model)
        self.ff, self.norm2 = FeedForward(c), nn.LayerNorm(c.d_model)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B,S,E], mask bool [B,1,1,S] -> [B,S,E]"""
        y = self.norm1(x)  # [B,S,E]
        x = x + self.self_attn(y, y, mask)  # [B,S,E]
        return x + self.ff(self.norm2(x))


class DecoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn, self.norm1 = Attention(c), nn.LayerNorm(c.d_model)
        self.cross_attn, self.norm2 = Attention(c), nn.LayerNorm(c.d_model)
        self.ff, self.norm3 = FeedForward(c), nn.LayerNorm(c.d_model)

    def forward(self, x: Tensor, memory: Tensor, causal_mask: Tensor, memory_mask: Tensor) -> Tensor:
        """x [B,T,E], memory [B,S,E], causal_mask bool [T,T], memory_mask bool [B,1,1,S] -> [B,T,E]"""
        y = self.norm1(x)  # [B,T,E]
        x = x + self.self_attn(y, y, causal_mask)  # [B,T,E]
        x = x + self.cross_attn(self.norm2(x), memory, memory_mask)  # [B,T,E]
        return x + self.ff(self.norm3(x))


class Pegasus(nn.Module):
    final_logits_bias: Tensor

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config = c
        self.embed = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.encoder = nn.ModuleList(EncoderLayer(c) for _ in range(c.n_layers))
        self.encoder_final = nn.LayerNorm(c.d_model)
        self.decoder = nn.ModuleList(DecoderLayer(c) for _ in range(c.n_layers))
        self.decoder_final = nn.LayerNorm(c.d_model)
        self.register_buffer("final_logits_bias", torch.zeros(1, c.vocab_size))  # not trained

    def embed_inputs(self, ids: Tensor) -> Tensor:
        """[B,L] -> [B,L,E]"""
        x = self.embed(ids) * math.sqrt(self.config.d_model)  # [B,L,E]
        return x + sinusoidal_positions(ids.size(1), self.config.d_model).to(x.dtype)  # [B,L,E]

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """input_ids, attention_mask [B,S] -> memory [B,S,E]"""
        x = self.embed_inputs(input_ids)  # [B,S,E]
        for layer in self.encoder:
            x = layer(x, attention_mask.bool()[:, None, None])  # [B,S,E]
        return self.encoder_final(x)

    def decode(self, decoder_input_ids: Tensor, memory: Tensor, attention_mask: Tensor) -> Tensor:
        """decoder_input_ids [B,T], memory [B,S,E], attention_mask [B,S] -> logits [B,T,V] of the token after each"""
        length = decoder_input_ids.size(1)
        causal_mask = torch.ones(length, length, dtype=torch.bool).tril()  # [T,T]
        x = self.embed_inputs(decoder_input_ids)  # [B,T,E]
        for layer in self.decoder:
            x = layer(x, memory, causal_mask, attention_mask.bool()[:, None, None])  # [B,T,E]
        return self.decoder_final(x) @ self.embed.weight.T + self.final_logits_bias  # [B,T,V]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, decoder_input_ids: Tensor) -> Tensor:
        """input_ids, attention_mask [B,S], decoder_input_ids [B,T] -> logits [B,T,V]"""
        return self.decode(decoder_input_ids, self.encode(input_ids, attention_mask), attention_mask)

    @torch.no_grad()
    def generate(self, input_ids: Tensor, attention_mask: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids, attention_mask [B,S] -> [B,1+max_new_tokens]: greedy decoding, after the start token"""
        memory = self.encode(input_ids, attention_mask)  # [B,S,E]
        ids = torch.full_like(input_ids[:, :1], self.config.decoder_start_token_id)  # [B,1]
        for _ in range(max_new_tokens):
            next_id = self.decode(ids, memory, attention_mask)[:, -1].argmax(-1, keepdim=True)  # [B,1]
            ids = torch.cat([ids, next_id], dim=1)  # [B,T+1]
        return ids


MODEL = Pegasus
