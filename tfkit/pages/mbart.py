"""mBART (Liu et al. 2020, arXiv:2001.08210): BART in 25 languages at once.

Adds to BART: pre-norm with a final norm, besides the norm after the embeddings; embeddings times sqrt(E), as published;
a token names the language: the source ends with its own, and the decoder starts with that of the target language.

Shapes: B sentences, S tokens of the source, T of the target, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 250027
    d_model: int = 1024
    n_layers: int = 12
    n_heads: int = 16
    d_ff: int = 4096
    max_length: int = 1024
    pad_token_id: int = 1


OFFSET = 2  # the first two rows of the position table are never used: fairseq reserved them for padding


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
        return self.down(F.gelu(self.up(x)))


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


class MBART(nn.Module):
    final_logits_bias: Tensor

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config = c
        self.embed = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.encoder_position = nn.Embedding(c.max_length + OFFSET, c.d_model)
        self.encoder_norm = nn.LayerNorm(c.d_model)
        self.encoder = nn.ModuleList(EncoderLayer(c) for _ in range(c.n_layers))
        self.encoder_final = nn.LayerNorm(c.d_model)
        self.decoder_position = nn.Embedding(c.max_length + OFFSET, c.d_model)
        self.decoder_norm = nn.LayerNorm(c.d_model)
        self.decoder = nn.ModuleList(DecoderLayer(c) for _ in range(c.n_layers))
        self.decoder_final = nn.LayerNorm(c.d_model)
        self.register_buffer("final_logits_bias", torch.zeros(1, c.vocab_size))  # not trained

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """input_ids, attention_mask [B,S] -> memory [B,S,E]"""
        position_ids = torch.arange(input_ids.size(1)) + OFFSET  # [S]
        x = self.embed(input_ids) * math.sqrt(self.config.d_model)  # [B,S,E]
        x = self.encoder_norm(x + self.encoder_position(position_ids))  # [B,S,E]
        for layer in self.encoder:
            x = layer(x, attention_mask.bool()[:, None, None])  # [B,S,E]
        return self.encoder_final(x)

    def decode(self, decoder_input_ids: Tensor, memory: Tensor, attention_mask: Tensor) -> Tensor:
        """decoder_input_ids [B,T], memory [B,S,E], attention_mask [B,S] -> logits [B,T,V] of the token after each"""
        length = decoder_input_ids.size(1)
        causal_mask = torch.ones(length, length, dtype=torch.bool).tril()  # [T,T]
        position_ids = torch.arange(length) + OFFSET  # [T]
        x = self.embed(decoder_input_ids) * math.sqrt(self.config.d_model)  # [B,T,E]
        x = self.decoder_norm(x + self.decoder_position(position_ids))  # [B,T,E]
        for layer in self.decoder:
            x = layer(x, memory, causal_mask, attention_mask.bool()[:, None, None])  # [B,T,E]
        return self.decoder_final(x) @ self.embed.weight.T + self.final_logits_bias  # [B,T,V]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, decoder_input_ids: Tensor) -> Tensor:
        """input_ids, attention_mask [B,S], decoder_input_ids [B,T] -> logits [B,T,V]"""
        return self.decode(decoder_input_ids, self.encode(input_ids, attention_mask), attention_mask)

    @torch.no_grad()
    def generate(self, input_ids: Tensor, attention_mask: Tensor, language_id: int, max_new_tokens: int) -> Tensor:
        """input_ids, attention_mask [B,S] -> [B,1+max_new_tokens] in the language that is its first token: greedy
        decoding"""
        memory = self.encode(input_ids, attention_mask)  # [B,S,E]
        ids = torch.full_like(input_ids[:, :1], language_id)  # [B,1]
        for _ in range(max_new_tokens):
            next_id = self.decode(ids, memory, attention_mask)[:, -1].argmax(-1, keepdim=True)  # [B,1]
            ids = torch.cat([ids, next_id], dim=1)  # [B,T+1]
        return ids


MODEL = MBART
