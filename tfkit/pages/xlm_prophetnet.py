"""XLM-ProphetNet (Qi et al. 2020, arXiv:2001.04063; Liang et al. 2020, arXiv:2004.01401): ProphetNet in 100 languages.

Adds to ProphetNet: nothing but 250,000 SentencePiece tokens of all languages together, so that more than a third of the
parameters are embeddings. 0 pads; [SEP], 2, begins and ends the target. The layers are ProphetNet's, and so is this
page: predicting stream n of the decoder predicts the n-th token ahead.

Shapes: B sentences, S tokens of the source, T of the target, E = d_model, H = n_heads, D = E / H, V = vocab_size, N =
ngram predicting streams.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 250012
    d_model: int = 1024
    n_layers: int = 12
    n_heads: int = 16
    d_ff: int = 4096
    max_length: int = 512
    ngram: int = 2
    n_buckets: int = 32
    max_distance: int = 128
    pad_token_id: int = 0
    decoder_start_token_id: int = 2


def relative_bucket(distance: Tensor, n_buckets: int, max_distance: int) -> Tensor:
    """distance = query - key -> bucket, both of any shape: small distances have one each, larger ones share"""
    distance, exact = distance.clamp(min=0), n_buckets // 2
    far = (distance.clamp(min=1).float() / exact).log() / math.log(max_distance / exact) * (n_buckets - exact)
    far = (exact + far.long()).clamp(max=n_buckets - 1)
    return torch.where(distance < exact, distance, far)


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


class NgramAttention(nn.Module):
    """Self-attention of all streams: keys are the main stream's, and each predicting query's own."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads, self.n_buckets, self.max_distance = c.n_heads, c.n_buckets, c.max_distance
        self.q_proj, self.k_proj = nn.Linear(c.d_model, c.d_model), nn.Linear(c.d_model, c.d_model)
        self.v_proj, self.o_proj = nn.Linear(c.d_model, c.d_model), nn.Linear(c.d_model, c.d_model)
        self.relative = nn.Linear(c.d_model, c.n_buckets * c.n_heads)  # a query's bias for each bucket of distances

    def forward(self, x: Tensor) -> Tensor:
        """x [B,1+N,T,E], the main stream first -> [B,1+N,T,E]"""
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)  # [B,1+N,T,E]
        q, k, v = (y.unflatten(-1, (self.n_heads, -1)).transpose(2, 3) for y in (q, k, v))  # [B,1+N,H,T,D]
        stream, key = torch.arange(x.size(1))[:, None, None], torch.arange(x.size(2))  # [1+N,1,1], [T]
        position = key[:, None] + (stream > 0)  # [1+N,T,1]: a predicting query has the position of the next token
        bucket = relative_bucket(position - key, self.n_buckets, self.max_distance)  # [1+N,T,T]
        by_bucket = self.relative(x).unflatten(-1, (-1, self.n_heads)).permute(0, 1, 4, 2, 3)  # [B,1+N,H,T,buckets]
        bias = by_bucket.gather(-1, bucket[None, :, None].expand(len(x), -1, self.n_heads, -1, -1))  # [B,1+N,H,T,T]
        scores = q @ k[:, :1].transpose(-2, -1) / math.sqrt(q.size(-1)) + bias  # [B,1+N,H,T,T]
        # stream n does not see the last n - 1 tokens, but always the first
        mask = (key <= key[:, None] - (stream - 1).clamp(min=0)) | ((stream > 0) & (key == 0))  # [1+N,T,T]
        own = (q * k).sum(-1, keepdim=True) / math.sqrt(q.size(-1)) + by_bucket[..., :1]  # [B,1+N,H,T,1]
        own = own.masked_fill(stream[..., None] == 0, float("-inf"))  # the main stream has it among the keys
        weights = torch.cat([scores.masked_fill(~mask[:, None], float("-inf")), own], -1).softmax(-1)  # [B,1+N,H,T,T+1]
        output = weights[..., :-1] @ v[:, :1] + weights[..., -1:] * v  # [B,1+N,H,T,D]
        return self.o_proj(output.transpose(2, 3).flatten(3))  # [B,1+N,T,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(c.d_model, c.d_ff), nn.Linear(c.d_ff, c.d_model)

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
        x = self.norm1(x + self.self_attn(x, x, mask))  # [B,S,E]
        return self.norm2(x + self.ff(x))


class DecoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn, self.norm1 = NgramAttention(c), nn.LayerNorm(c.d_model)
        self.cross_attn, self.norm2 = Attention(c), nn.LayerNorm(c.d_model)
        self.ff, self.norm3 = FeedForward(c), nn.LayerNorm(c.d_model)

    def forward(self, x: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """x [B,1+N,T,E], memory [B,S,E], memory_mask bool [B,1,1,S] -> [B,1+N,T,E]"""
        x = self.norm1(x + self.self_attn(x))  # [B,1+N,T,E]
        attended = self.cross_attn(x.flatten(1, 2), memory, memory_mask)  # [B,(1+N)*T,E]
        x = self.norm2(x + attended.view_as(x))  # [B,1+N,T,E]
        return self.norm3(x + self.ff(x))


class XLMProphetNet(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config = c
        self.embed = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.encoder_position = nn.Embedding(c.max_length, c.d_model, padding_idx=c.pad_token_id)
        self.encoder_norm = nn.LayerNorm(c.d_model)
        self.encoder = nn.ModuleList(EncoderLayer(c) for _ in range(c.n_layers))
        self.decoder_position = nn.Embedding(c.max_length, c.d_model, padding_idx=c.pad_token_id)
        self.decoder_norm = nn.LayerNorm(c.d_model)
        self.ngram_embed = nn.Embedding(c.ngram, c.d_model)
        self.decoder = nn.ModuleList(DecoderLayer(c) for _ in range(c.n_layers))

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """input_ids, attention_mask [B,S] -> memory [B,S,E]"""
        position_ids = torch.arange(input_ids.size(1)) + self.config.pad_token_id + 1  # [S]
        x = self.encoder_norm(self.embed(input_ids) + self.encoder_position(position_ids))  # [B,S,E]
        for layer in self.encoder:
            x = layer(x, attention_mask.bool()[:, None, None])  # [B,S,E]
        return x

    def decode(self, decoder_input_ids: Tensor, memory: Tensor, attention_mask: Tensor) -> Tensor:
        """decoder_input_ids [B,T], memory [B,S,E], attention_mask [B,S] -> logits [B,N,T,V] of the next N tokens"""
        position_ids = torch.arange(decoder_input_ids.size(1)) + self.config.pad_token_id + 1  # [T]
        main = self.embed(decoder_input_ids) + self.decoder_position(position_ids)  # [B,T,E]
        ngram = self.ngram_embed.weight.roll(1, 0)[:, None]  # [N,1,E]; the first stream has the last row
        predicting = (self.decoder_position(position_ids + 1) + ngram).expand(len(main), -1, -1, -1)  # [B,N,T,E]
        x = self.decoder_norm(torch.cat([main[:, None], predicting], dim=1))  # [B,1+N,T,E]
        for layer in self.decoder:
            x = layer(x, memory, attention_mask.bool()[:, None, None])  # [B,1+N,T,E]
        return x[:, 1:] @ self.embed.weight.T  # [B,N,T,V]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, decoder_input_ids: Tensor) -> Tensor:
        """input_ids, attention_mask [B,S], decoder_input_ids [B,T] -> logits [B,N,T,V]"""
        return self.decode(decoder_input_ids, self.encode(input_ids, attention_mask), attention_mask)

    @torch.no_grad()
    def generate(self, input_ids: Tensor, attention_mask: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids, attention_mask [B,S] -> [B,1+max_new_tokens]: greedy decoding, after the start token"""
        memory = self.encode(input_ids, attention_mask)  # [B,S,E]
        ids = torch.full_like(input_ids[:, :1], self.config.decoder_start_token_id)  # [B,1]
        for _ in range(max_new_tokens):
            logits = self.decode(ids, memory, attention_mask)[:, 0, -1]  # [B,V]
            ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], dim=1)  # [B,T+1]
        return ids


MODEL = XLMProphetNet
