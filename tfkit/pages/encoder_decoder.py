"""BERT2BERT (Rothe et al. 2019, arXiv:1907.12461): an encoder and a decoder that were trained separately.

Adds to the transformer: the weights of both halves come from BERT. The decoder is a BERT with a causal mask, with its
masked language model's head, which now predicts the next token; between its two sub-layers is a cross-attention to the
encoder's output, the only part that is randomly initialised. (The halves may be others, too: RoBERTa, or GPT-2 as
decoder.)

Shapes: B sentences, S tokens of the source, T of the target, E = d_model, H = n_heads, D = E / H, V = vocab_size.
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
    decoder_start_token_id: int = 101


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.positions = nn.Embedding(c.max_length, c.d_model)
        self.types = nn.Embedding(c.n_types, c.d_model)
        self.norm = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, ids: Tensor) -> Tensor:
        """[B,L] -> [B,L,E]; all tokens are of the first sentence type"""
        position_ids = torch.arange(ids.size(1))  # [L]
        return self.norm(self.tokens(ids) + self.positions(position_ids) + self.types.weight[0])  # [B,L,E]


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
        self.attn, self.norm1 = Attention(c), nn.LayerNorm(c.d_model, c.eps)
        self.ff, self.norm2 = FeedForward(c), nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B,S,E], mask bool [B,1,1,S] -> [B,S,E]"""
        x = self.norm1(x + self.attn(x, x, mask))  # [B,S,E]
        return self.norm2(x + self.ff(x))


class DecoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.attn, self.norm1 = Attention(c), nn.LayerNorm(c.d_model, c.eps)
        self.cross_attn, self.cross_norm = Attention(c), nn.LayerNorm(c.d_model, c.eps)
        self.ff, self.norm2 = FeedForward(c), nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, memory: Tensor, causal_mask: Tensor, memory_mask: Tensor) -> Tensor:
        """x [B,T,E], memory [B,S,E], causal_mask bool [T,T], memory_mask bool [B,1,1,S] -> [B,T,E]"""
        x = self.norm1(x + self.attn(x, x, causal_mask))  # [B,T,E]
        x = self.cross_norm(x + self.cross_attn(x, memory, memory_mask))  # [B,T,E]
        return self.norm2(x + self.ff(x))


class Encoder(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(EncoderLayer(c) for _ in range(c.n_layers))
        self.pooler = nn.Linear(c.d_model, c.d_model)  # BERT has one; the decoder does not use it

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """input_ids, attention_mask [B,S] -> memory [B,S,E]"""
        x = self.embed(input_ids)  # [B,S,E]
        for layer in self.layers:
            x = layer(x, attention_mask.bool()[:, None, None])  # [B,S,E]
        return x


class LMHead(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.dense = nn.Linear(c.d_model, c.d_model)
        self.norm = nn.LayerNorm(c.d_model, c.eps)
        self.bias = nn.Parameter(torch.zeros(c.vocab_size))

    def forward(self, x: Tensor, embedding: Tensor) -> Tensor:
        """x [B,T,E], embedding [V,E] -> logits [B,T,V]"""
        x = self.norm(F.gelu(self.dense(x)))  # [B,T,E]
        return x @ embedding.T + self.bias  # [B,T,V]


class Decoder(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(DecoderLayer(c) for _ in range(c.n_layers))
        self.task_head = LMHead(c)

    def forward(self, decoder_input_ids: Tensor, memory: Tensor, attention_mask: Tensor) -> Tensor:
        """decoder_input_ids [B,T], memory [B,S,E], attention_mask [B,S] -> logits [B,T,V] of the token after each"""
        length = decoder_input_ids.size(1)
        causal_mask = torch.ones(length, length, dtype=torch.bool).tril()  # [T,T]
        x = self.embed(decoder_input_ids)  # [B,T,E]
        for layer in self.layers:
            x = layer(x, memory, causal_mask, attention_mask.bool()[:, None, None])  # [B,T,E]
        return self.task_head(x, self.embed.tokens.weight)  # [B,T,V]


class EncoderDecoder(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config, self.encoder, self.decoder = c, Encoder(c), Decoder(c)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, decoder_input_ids: Tensor) -> Tensor:
        """input_ids, attention_mask [B,S], decoder_input_ids [B,T] -> logits [B,T,V]"""
        return self.decoder(decoder_input_ids, self.encoder(input_ids, attention_mask), attention_mask)

    @torch.no_grad()
    def generate(self, input_ids: Tensor, attention_mask: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids, attention_mask [B,S] -> [B,1+max_new_tokens]: greedy decoding, after the start token"""
        memory = self.encoder(input_ids, attention_mask)  # [B,S,E]
        ids = torch.full_like(input_ids[:, :1], self.config.decoder_start_token_id)  # [B,1]
        for _ in range(max_new_tokens):
            next_id = self.decoder(ids, memory, attention_mask)[:, -1].argmax(-1, keepdim=True)  # [B,1]
            ids = torch.cat([ids, next_id], dim=1)  # [B,T+1]
        return ids


MODEL = EncoderDecoder
