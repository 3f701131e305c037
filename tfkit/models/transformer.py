"""The transformer (Vaswani et al. 2017, arXiv:1706.03762): attention is all you need.

Parent   rnn_seq2seq (by idea)
Differs  no recurrence: self-attention, with sinusoids as position encodings; so training needs no loop over time. The
         embeddings and the output projection share one matrix (3.4). Post-norm.
Trained  objectives.label_smoothing, with smoothing 0.1 and the warm-up schedule; dropout on each sub-layer's output and
         on the embeddings. (The paper's code also drops attention weights; the paper does not say so, nor do we.)
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..nn import Attention, Cache, Dropout, FeedForward, sinusoidal_positions
from ..nn.positions import table_slice
from ..objectives.cross_entropy import cross_entropy
from ._base import Model, configuration, to_padding_mask
from ._checks import check_ids, check_max_length, embed_ids
from ._output import Output
from ._seq2seq import all_labels, seq2seq_forward, shifted_labels


@configuration
class Config:
    vocab_size: int = 37000
    d_model: int = 512
    n_layers: int = 6
    n_heads: int = 8
    d_ff: int = 2048
    dropout: float = 0.1
    label_smoothing: float = 0.1
    max_length: int = 1024  # of the table of sinusoids, which are computed, not learned
    pad_token_id: int = 0
    decoder_start_token_id: int = 1
    eos_token_id: int = 2


PRESETS: dict[str, dict[str, Any]] = {
    "base": {},
    "big": {"d_model": 1024, "n_heads": 16, "d_ff": 4096, "dropout": 0.3},
}


class EncoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn = Attention(c.d_model, c.n_heads)
        self.ff = FeedForward(c.d_model, c.d_ff)
        self.norm1, self.norm2 = nn.LayerNorm(c.d_model), nn.LayerNorm(c.d_model)
        self.drop = Dropout(c.dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x [B,S,E], mask bool [B,1,1,S] or None -> [B,S,E]"""
        x = self.norm1(x + self.drop(self.self_attn(x, mask=mask)))
        return self.norm2(x + self.drop(self.ff(x)))


class DecoderLayer(nn.Module):
    """Causal self-attention, attention over the encoder's states, and a feed-forward network."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn = Attention(c.d_model, c.n_heads, causal=True)
        self.ff = FeedForward(c.d_model, c.d_ff)
        self.norm1, self.norm2 = nn.LayerNorm(c.d_model), nn.LayerNorm(c.d_model)
        self.drop = Dropout(c.dropout)
        self.cross_attn, self.norm3 = Attention(c.d_model, c.n_heads), nn.LayerNorm(c.d_model)

    def forward(
        self, x: Tensor, memory: Tensor | None, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        """x [B,T,E], memory [B,S,E] or None, masks bool [B,1,1,·] or None -> [B,T,E]"""
        x = self.norm1(x + self.drop(self.self_attn(x, mask=mask, cache=cache)))
        if memory is not None:  # a decoder without an encoder has none
            x = self.norm2(x + self.drop(self.cross_attn(x, memory, mask=memory_mask, cache=cache)))
        return self.norm3(x + self.drop(self.ff(x)))


class Transformer(Model):
    HEADS = (None, "seq2seq_lm")
    positions: torch.Tensor
    forward, decoder_ids, read_mask = seq2seq_forward, shifted_labels, all_labels

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_layers))
        self.drop = Dropout(config.dropout)
        self.register_buffer("positions", sinusoidal_positions(config.max_length, config.d_model), persistent=False)
        self.apply(self.init_weights)

    def init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
        # embeddings are multiplied by sqrt(d_model), and are also the output matrix
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)

    def embed_inputs(self, ids: Tensor, name: str, past: Tensor | int = 0) -> Tensor:
        """ids [B,L] -> [B,L,E]"""
        check_max_length(self.config, name, ids, past)
        positions = table_slice(self.positions, past, ids.size(1))
        x = embed_ids(self.embed, ids, name) * self.config.d_model**0.5
        return self.drop(x + positions.to(x.dtype))

    def encode(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Output:
        """input_ids [B,S], attention_mask [B,S] -> Output with last_hidden_state [B,S,E]"""
        mask = to_padding_mask("attention_mask", attention_mask, check_ids("input_ids", input_ids).shape)
        mask = None if mask is None else mask[:, None, None]
        x = self.embed_inputs(input_ids, "input_ids")
        for layer in self.encoder:
            x = layer(x, mask)
        return Output(last_hidden_state=x)

    def decode(
        self, ids: Tensor, memory: Tensor, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        """ids [B,T], memory [B,S,E], masks bool [B,T] and [B,S] or None -> [B,T,E]"""
        mask, memory_mask = (m if m is None else m[:, None, None] for m in (mask, memory_mask))
        x = self.embed_inputs(ids, "decoder_input_ids", 0 if cache is None else cache.past)
        for layer in self.decoder:
            x = layer(x, memory, mask, memory_mask, cache)
        return x

    def score(self, x: Tensor) -> Tensor:
        """x [B,T,E] -> logits [B,T,V]"""
        return F.linear(x, self.embed.weight)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """logits [B,T,V], labels [B,T] -> scalar"""
        return cross_entropy(logits, labels, self.config.label_smoothing)


MODEL = Transformer
