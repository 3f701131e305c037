"""mT5 (Xue et al. 2020, arXiv:2010.11934): T5 in 101 languages.

Adds to the original T5: a gated feed-forward network (GeGLU); an untied output matrix; and a vocabulary eight times as
large, which is most of the small models. The first two are T5's own version 1.1.

Shapes: B sentences, S tokens of the source, T of the target, E = d_model, H = n_heads, D = d_kv, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 250112
    d_model: int = 512
    d_kv: int = 64
    d_ff: int = 1024
    n_layers: int = 8
    n_heads: int = 6
    n_buckets: int = 32
    max_distance: int = 128
    eps: float = 1e-6
    decoder_start_token_id: int = 0


def relative_bucket(distance: Tensor, bidirectional: bool, n_buckets: int, max_distance: int) -> Tensor:
    """distance = key - query [Q,K] -> bucket [Q,K]: small distances have one each, larger ones share"""
    first = torch.zeros_like(distance)  # [Q,K]
    if bidirectional:  # half of the buckets for each side
        n_buckets //= 2
        first = (distance > 0) * n_buckets  # [Q,K]
        distance = distance.abs()  # [Q,K]
    else:  # the future is masked anyway
        distance = (-distance).clamp(min=0)  # [Q,K]
    exact = n_buckets // 2
    far = (distance.clamp(min=1).float() / exact).log() / math.log(max_distance / exact) * (n_buckets - exact)  # [Q,K]
    far = (exact + far.long()).clamp(max=n_buckets - 1)  # [Q,K]
    return first + torch.where(distance < exact, distance, far)


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads = c.n_heads
        self.q_proj = nn.Linear(c.d_model, c.n_heads * c.d_kv, bias=False)
        self.k_proj = nn.Linear(c.d_model, c.n_heads * c.d_kv, bias=False)
        self.v_proj = nn.Linear(c.d_model, c.n_heads * c.d_kv, bias=False)
        self.o_proj = nn.Linear(c.n_heads * c.d_kv, c.d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,H*D] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, source: Tensor, mask: Tensor, bias: Tensor | float = 0.0) -> Tensor:
        """x [B,Q,E]: queries, source [B,K,E]: keys and values, mask bool and bias broadcastable to [B,H,Q,K] ->
        [B,Q,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,Q,D]
        k = self.split_heads(self.k_proj(source))  # [B,H,K,D]
        v = self.split_heads(self.v_proj(source))  # [B,H,K,D]
        scores = q @ k.transpose(-2, -1) + bias  # [B,H,Q,K]
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,Q,K], each row sums to 1
        output = weights @ v  # [B,H,Q,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,Q,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.gate = nn.Linear(c.d_model, c.d_ff, bias=False)
        self.value = nn.Linear(c.d_model, c.d_ff, bias=False)
        self.down = nn.Linear(c.d_ff, c.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.gelu(self.gate(x), approximate="tanh") * self.value(x))


class EncoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn, self.norm1 = Attention(c), nn.RMSNorm(c.d_model, c.eps)
        self.ff, self.norm2 = FeedForward(c), nn.RMSNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, mask: Tensor, bias: Tensor) -> Tensor:
        """x [B,S,E], mask bool [B,1,1,S], bias [H,S,S] -> [B,S,E]"""
        y = self.norm1(x)  # [B,S,E]
        x = x + self.self_attn(y, y, mask, bias)  # [B,S,E]
        return x + self.ff(self.norm2(x))


class DecoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn, self.norm1 = Attention(c), nn.RMSNorm(c.d_model, c.eps)
        self.cross_attn, self.norm2 = Attention(c), nn.RMSNorm(c.d_model, c.eps)
        self.ff, self.norm3 = FeedForward(c), nn.RMSNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, memory: Tensor, causal_mask: Tensor, memory_mask: Tensor, bias: Tensor) -> Tensor:
        """x [B,T,E], memory [B,S,E], causal_mask bool [T,T], memory_mask bool [B,1,1,S], bias [H,T,T] -> [B,T,E]"""
        y = self.norm1(x)  # [B,T,E]
        x = x + self.self_attn(y, y, causal_mask, bias)  # [B,T,E]
        x = x + self.cross_attn(self.norm2(x), memory, memory_mask)  # [B,T,E]
        return x + self.ff(self.norm3(x))


class MT5(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config = c
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.encoder = nn.ModuleList(EncoderLayer(c) for _ in range(c.n_layers))
        self.encoder_bias, self.encoder_norm = nn.Embedding(c.n_buckets, c.n_heads), nn.RMSNorm(c.d_model, c.eps)
        self.decoder = nn.ModuleList(DecoderLayer(c) for _ in range(c.n_layers))
        self.decoder_bias, self.decoder_norm = nn.Embedding(c.n_buckets, c.n_heads), nn.RMSNorm(c.d_model, c.eps)
        self.lm_head = nn.Linear(c.d_model, c.vocab_size, bias=False)

    def position_bias(self, table: nn.Embedding, length: int, bidirectional: bool) -> Tensor:
        """table: a number for each bucket and head -> [H,L,L]: the relative position bias, shared by all layers"""
        position = torch.arange(length)
        distance = position[None, :] - position[:, None]  # [L,L], key - query
        bucket = relative_bucket(distance, bidirectional, self.config.n_buckets, self.config.max_distance)  # [L,L]
        return table(bucket).permute(2, 0, 1)  # [H,L,L]

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """input_ids, attention_mask [B,S] -> memory [B,S,E]"""
        bias = self.position_bias(self.encoder_bias, input_ids.size(1), bidirectional=True)  # [H,S,S]
        x = self.embed(input_ids)  # [B,S,E]
        for layer in self.encoder:
            x = layer(x, attention_mask.bool()[:, None, None], bias)  # [B,S,E]
        return self.encoder_norm(x)

    def decode(self, decoder_input_ids: Tensor, memory: Tensor, attention_mask: Tensor) -> Tensor:
        """decoder_input_ids [B,T], memory [B,S,E], attention_mask [B,S] -> logits [B,T,V] of the token after each"""
        length = decoder_input_ids.size(1)
        causal_mask = torch.ones(length, length, dtype=torch.bool).tril()  # [T,T]
        bias = self.position_bias(self.decoder_bias, length, bidirectional=False)  # [H,T,T]
        x = self.embed(decoder_input_ids)  # [B,T,E]
        for layer in self.decoder:
            x = layer(x, memory, causal_mask, attention_mask.bool()[:, None, None], bias)  # [B,T,E]
        return self.lm_head(self.decoder_norm(x))  # [B,T,V]

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


MODEL = MT5
