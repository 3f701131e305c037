"""RAG (Lewis et al. 2020, arXiv:2005.11401): retrieve, then generate; knowledge is in an index, not in weights.

Adds to BART: a question encoder (DPR's, a BERT) finds the n_docs passages whose vectors have the largest inner product
with the question's; BART reads each passage, followed by the question; every token's probability is marginalised over
the passages, weighted by their retrieval probabilities (RAG-token). These train the question encoder, not the index.
Left out: RAG-sequence, which marginalises over the passages once for the whole answer.

Shapes: B questions, N passages in the index, D of them found, S tokens of a source, T of the target, E = d_model, H =
n_heads, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Size:
    vocab_size: int
    d_model: int
    n_layers: int
    n_heads: int
    d_ff: int
    max_length: int
    pad_token_id: int
    eps: float = 1e-5


@dataclass(frozen=True)
class Config:
    question_encoder: Size = Size(30522, 768, 12, 12, 3072, 512, 0, 1e-12)
    generator: Size = Size(50265, 1024, 12, 16, 4096, 1024, 1)
    n_docs: int = 5
    decoder_start_token_id: int = 2


Index = tuple[Tensor, Tensor]  # the vectors [N,E] of the passages, and their ids [N,P]


class Attention(nn.Module):
    def __init__(self, c: Size) -> None:
        super().__init__()
        self.n_heads = c.n_heads
        self.q_proj, self.k_proj = nn.Linear(c.d_model, c.d_model), nn.Linear(c.d_model, c.d_model)
        self.v_proj, self.o_proj = nn.Linear(c.d_model, c.d_model), nn.Linear(c.d_model, c.d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,E/H]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, source: Tensor, mask: Tensor) -> Tensor:
        """x [B,Q,E]: queries, source [B,K,E]: keys and values, mask bool, broadcastable to [B,H,Q,K] -> [B,Q,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,Q,E/H]
        k = self.split_heads(self.k_proj(source))  # [B,H,K,E/H]
        v = self.split_heads(self.v_proj(source))  # [B,H,K,E/H]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,Q,K]
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,Q,K], each row sums to 1
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))  # [B,Q,E]


class FeedForward(nn.Module):
    def __init__(self, c: Size) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(c.d_model, c.d_ff), nn.Linear(c.d_ff, c.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.gelu(self.up(x)))


class Layer(nn.Module):
    """Of an encoder; BERT calls its attention attn, BART self_attn."""

    def __init__(self, c: Size, name: str) -> None:
        super().__init__()
        self.name = name
        self.add_module(name, Attention(c))
        self.ff = FeedForward(c)
        self.norm1, self.norm2 = nn.LayerNorm(c.d_model, c.eps), nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B,S,E], mask bool [B,1,1,S] -> [B,S,E]"""
        x = self.norm1(x + self.get_submodule(self.name)(x, x, mask))  # [B,S,E]
        return self.norm2(x + self.ff(x))


class DecoderLayer(nn.Module):
    def __init__(self, c: Size) -> None:
        super().__init__()
        self.self_attn, self.norm1 = Attention(c), nn.LayerNorm(c.d_model, c.eps)
        self.cross_attn, self.norm2 = Attention(c), nn.LayerNorm(c.d_model, c.eps)
        self.ff, self.norm3 = FeedForward(c), nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, memory: Tensor, causal_mask: Tensor, memory_mask: Tensor) -> Tensor:
        """x [B,T,E], memory [B,S,E], causal_mask bool [T,T], memory_mask bool [B,1,1,S] -> [B,T,E]"""
        x = self.norm1(x + self.self_attn(x, x, causal_mask))  # [B,T,E]
        x = self.norm2(x + self.cross_attn(x, memory, memory_mask))  # [B,T,E]
        return self.norm3(x + self.ff(x))


class QuestionEncoder(nn.Module):
    def __init__(self, c: Size) -> None:
        super().__init__()
        tokens = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        tables = {"positions": nn.Embedding(c.max_length, c.d_model), "types": nn.Embedding(2, c.d_model)}
        self.embed = nn.ModuleDict({"tokens": tokens, **tables, "norm": nn.LayerNorm(c.d_model, c.eps)})
        self.layers = nn.ModuleList(Layer(c, "attn") for _ in range(c.n_layers))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """input_ids, attention_mask [B,S] -> a vector for each question [B,E]"""
        x = self.embed["tokens"](input_ids) + self.embed["types"](torch.zeros_like(input_ids))  # [B,S,E]
        x = self.embed["norm"](x + self.embed["positions"](torch.arange(x.size(1))))  # [B,S,E]
        for layer in self.layers:
            x = layer(x, attention_mask.bool()[:, None, None])  # [B,S,E]
        return x[:, 0]  # [B,E]


class Generator(nn.Module):
    """BART."""

    def __init__(self, c: Size) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.encoder_position = nn.Embedding(c.max_length + 2, c.d_model)  # fairseq kept the first two for padding
        self.decoder_position = nn.Embedding(c.max_length + 2, c.d_model)
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(c.d_model, c.eps), nn.LayerNorm(c.d_model, c.eps)
        self.encoder = nn.ModuleList(Layer(c, "self_attn") for _ in range(c.n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(c) for _ in range(c.n_layers))
        self.register_buffer("final_logits_bias", torch.zeros(1, c.vocab_size))

    def encode(self, ids: Tensor, attention_mask: Tensor) -> Tensor:
        """ids, attention_mask [B,S] -> memory [B,S,E]"""
        x = self.encoder_norm(self.embed(ids) + self.encoder_position.weight[2 : 2 + ids.size(1)])  # [B,S,E]
        for layer in self.encoder:
            x = layer(x, attention_mask.bool()[:, None, None])  # [B,S,E]
        return x

    def decode(self, ids: Tensor, memory: Tensor, attention_mask: Tensor) -> Tensor:
        """ids [B,T], memory [B,S,E], attention_mask [B,S] -> logits [B,T,V]"""
        causal_mask = torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).tril()  # [T,T]
        x = self.decoder_norm(self.embed(ids) + self.decoder_position.weight[2 : 2 + ids.size(1)])  # [B,T,E]
        for layer in self.decoder:
            x = layer(x, memory, causal_mask, attention_mask.bool()[:, None, None])  # [B,T,E]
        return x @ self.embed.weight.T + self.final_logits_bias  # [B,T,V]


class RAG(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config = c
        self.question_encoder, self.generator = QuestionEncoder(c.question_encoder), Generator(c.generator)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, decoder_input_ids: Tensor, index: Index) -> Tensor:
        """input_ids, attention_mask [B,S]: questions; decoder_input_ids [B,T] -> log-probabilities [B,T,V]"""
        docs, (passage_vectors, passage_ids) = self.config.n_docs, index
        question = self.question_encoder(input_ids, attention_mask)  # [B,E]
        doc_scores, rows = (question @ passage_vectors.T).topk(docs)  # [B,D], the best of [B,N]
        questions, masks = (x.repeat_interleave(docs, 0) for x in (input_ids, attention_mask))  # [B*D,S]
        context_ids = torch.cat([passage_ids[rows.flatten()], questions], dim=1)  # [B*D,P+S]
        context_mask = F.pad(masks, (passage_ids.size(1), 0), value=1)  # [B*D,P+S]
        memory = self.generator.encode(context_ids, context_mask)  # [B*D,P+S,E]
        logits = self.generator.decode(decoder_input_ids.repeat_interleave(docs, 0), memory, context_mask)  # [B*D,T,V]
        token = logits.log_softmax(-1).unflatten(0, (-1, docs))  # [B,D,T,V]: log p(token | question, passage)
        passage = doc_scores.log_softmax(-1)[:, :, None, None]  # [B,D,1,1]: log p(passage | question)
        return (token + passage).logsumexp(1)  # [B,T,V]

    @torch.no_grad()
    def generate(self, input_ids: Tensor, attention_mask: Tensor, index: Index, max_new_tokens: int) -> Tensor:
        """input_ids, attention_mask [B,S] -> [B,1+max_new_tokens]: greedy decoding, after the start token"""
        ids = torch.full_like(input_ids[:, :1], self.config.decoder_start_token_id)  # [B,1]
        for _ in range(max_new_tokens):
            next_id = self(input_ids, attention_mask, ids, index)[:, -1].argmax(-1, keepdim=True)  # [B,1]
            ids = torch.cat([ids, next_id], dim=1)  # [B,T+1]
        return ids


MODEL = RAG
