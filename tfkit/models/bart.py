"""BART (Lewis et al. 2019, arXiv:1910.13461): a denoising autoencoder for sequence-to-sequence tasks.

Parent   transformer (by idea)
Differs  learned positions, one table for each side; a norm after the embeddings, which are multiplied by
         sqrt(d_model) only if scale_embedding is set; GELU; dropout on the attention weights; a constant bias on the
         logits (final_logits_bias)
Trained  objectives.denoising: text infilling and shuffled sentences
"""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..nn import Attention, Dropout, FeedForward, LayerDrop
from ..nn.cache import Cache
from ..nn.feed_forward import get_activation
from ..nn.positions import table_slice
from ..objectives.cross_entropy import cross_entropy, word_scores
from . import _fairseq
from ._base import Model, configuration, normal_init, to_padding_mask
from ._checks import check_ids, check_max_length, embed_ids
from ._fairseq import FIELDS as HF_FIELDS
from ._fairseq import UNUSED as HF_UNUSED
from ._output import Output
from ._seq2seq import Seq2SeqTaskConfig, all_labels, make_task_head, shifted_labels, tasks_forward

__all__ = ["HF_FIELDS", "HF_UNUSED"]

OFFSET = 2  # the first rows of the position table are never read; fairseq reserved them for padding


@configuration
class Config(Seq2SeqTaskConfig):
    vocab_size: int = 50265
    d_model: int = 1024
    n_layers: int = 12
    n_heads: int = 16
    d_ff: int = 4096
    n_decoder_layers: int = 12
    n_decoder_heads: int = 16
    d_decoder_ff: int = 4096
    max_length: int = 1024
    activation: str = "gelu"
    dropout: float = 0.1
    attn_dropout: float = 0.0
    ff_dropout: float = 0.0
    layerdrop: float = 0.0  # in training: the probability that an encoder layer is skipped
    decoder_layerdrop: float = 0.0
    scale_embedding: bool = False
    bos_token_id: int | None = 0
    pad_token_id: int = 1
    eos_token_id: int = 2
    decoder_start_token_id: int | None = 2
    forced_bos_token_id: int | None = None  # the first and last tokens of generated text are forced to these
    forced_eos_token_id: int | None = 2
    num_labels: int = 3


PRESETS: dict[str, dict[str, Any]] = {
    "bart-base": {
        "d_model": 768, "n_layers": 6, "n_heads": 12, "d_ff": 3072, "n_decoder_layers": 6, "n_decoder_heads": 12,
        "d_decoder_ff": 3072, "attn_dropout": 0.1, "ff_dropout": 0.1,
    },
    "bart-large": {"attn_dropout": 0.1, "ff_dropout": 0.1},
    "bart-large-cnn": {"vocab_size": 50264},
}  # fmt: skip


class EncoderLayer(nn.Module):
    def __init__(self, c: Any) -> None:
        super().__init__()
        self.self_attn = Attention(c.d_model, c.n_heads, dropout=c.attn_dropout)
        self.ff = FeedForward(c.d_model, c.d_ff, get_activation(c.activation), c.ff_dropout)
        self.norm1, self.norm2 = (nn.LayerNorm(c.d_model) for _ in range(2))
        self.drop = Dropout(c.dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x [B,S,E], mask bool [B,1,1,S] or None -> [B,S,E]"""
        x = self.norm1(x + self.drop(self.self_attn(x, mask=mask)))
        return self.norm2(x + self.drop(self.ff(x)))


class DecoderLayer(nn.Module):
    def __init__(self, c: Any) -> None:
        super().__init__()
        self.self_attn = Attention(c.d_model, c.n_decoder_heads, dropout=c.attn_dropout, causal=True)
        self.cross_attn = Attention(c.d_model, c.n_decoder_heads, dropout=c.attn_dropout)
        self.ff = FeedForward(c.d_model, c.d_decoder_ff, get_activation(c.activation), c.ff_dropout)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(c.d_model) for _ in range(3))
        self.drop = Dropout(c.dropout)

    def forward(
        self, x: Tensor, memory: Tensor | None, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        """x [B,T,E], memory [B,S,E] or None, masks bool [B,1,1,·] or None -> [B,T,E]"""
        x = self.norm1(x + self.drop(self.self_attn(x, mask=mask, cache=cache)))
        if memory is not None:  # a decoder without an encoder has none
            x = self.norm2(x + self.drop(self.cross_attn(x, memory, mask=memory_mask, cache=cache)))
        return self.norm3(x + self.drop(self.ff(x)))


class Positions(nn.Embedding):
    """A learned vector for each position."""

    def __init__(self, c: Any) -> None:
        super().__init__(c.max_length + OFFSET, c.d_model)

    def forward(self, input: Tensor, past: Tensor | int = 0) -> Tensor:
        """input [B,L]: the ids that come after `past` others -> broadcastable to [B,L,E]"""
        return table_slice(self.weight, past + OFFSET, input.size(1))


class BART(Model):
    PADDING_ROW = True
    HEADS: ClassVar[tuple[str | None, ...]] = (
        None, "seq2seq_lm", "sequence_classification", "question_answering", "causal_lm",
    )  # fmt: skip
    ENCODER_LAYER: type[nn.Module] = EncoderLayer
    DECODER_LAYER: type[nn.Module] = DecoderLayer
    POSITIONS: type[nn.Module] = Positions
    EMBED_NORM: Any = nn.LayerNorm  # right after the embeddings
    FINAL_NORM: Any = nn.Identity  # after the last layer
    LOGITS_BIAS = True
    SHIFTS_INPUT_IDS = True  # without labels the decoder reads the shifted source
    ENCODER_HEAD_CLASSES: ClassVar[dict[str | None, Any]] = {}
    forward, decoder_ids, read_mask = tasks_forward, shifted_labels, all_labels
    final_logits_bias: torch.Tensor
    encoder_final: nn.Module
    decoder_final: nn.Module

    init_weights = staticmethod(normal_init)  # also initialises the layers of a new head at loading

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        c = config
        decoder_only = head == "causal_lm"
        self.embed = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.untied_tables = not (c.tie_word_embeddings or decoder_only)
        self.decoder_embed = self.second_table() if self.untied_tables else None
        self.encoder = LayerDrop([self.ENCODER_LAYER(c) for _ in range(0 if decoder_only else c.n_layers)], c.layerdrop)
        self.decoder = LayerDrop([self.DECODER_LAYER(c) for _ in range(c.n_decoder_layers)], c.decoder_layerdrop)
        for side in ["decoder"] if decoder_only else ["encoder", "decoder"]:
            self.add_module(f"{side}_position", self.POSITIONS(c))
            self.add_module(f"{side}_norm", self.EMBED_NORM(c.d_model))
            self.add_module(f"{side}_final", self.FINAL_NORM(c.d_model))
        self.drop = Dropout(c.dropout)
        if head == "seq2seq_lm" and self.LOGITS_BIAS:
            self.register_buffer("final_logits_bias", torch.zeros(1, c.vocab_size))  # not trained, but saved
        self.task_head = make_task_head(self)
        if head in ("seq2seq_lm", "causal_lm") and not c.tie_word_embeddings:
            self.untie(self.table("decoder"))
        self.apply(self.init_weights)

    def second_table(self) -> nn.Embedding:
        """The decoder's own embeddings, if it does not use the encoder's."""
        return nn.Embedding(self.config.vocab_size, self.config.d_model, padding_idx=self.config.pad_token_id)

    def embed_inputs(self, ids: Tensor, name: str, past: Tensor | int = 0) -> Tensor:
        """ids [B,L], after `past` others -> [B,L,E]; name "input_ids": the encoder's. Raises ValueError past
        max_length."""
        side = "encoder" if name == "input_ids" else "decoder"
        name = "input_ids" if self.head == "causal_lm" else name
        check_max_length(self.config, name, ids, past)
        x = embed_ids(self.table(side), ids, name)
        x = x * self.config.d_model**0.5 if self.config.scale_embedding else x
        return self.drop(getattr(self, f"{side}_norm")(x + getattr(self, f"{side}_position")(ids, past)))

    def table(self, side: str) -> nn.Embedding:
        """The embeddings of a side: one for both, unless the decoder has its own."""
        return self.decoder_embed if side == "decoder" and self.decoder_embed is not None else self.embed

    def encode(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Output:
        """input_ids, attention_mask [B,S] -> Output with last_hidden_state [B,S,E]"""
        mask = to_padding_mask("attention_mask", attention_mask, check_ids("input_ids", input_ids).shape)
        mask = None if mask is None else mask[:, None, None]
        x = self.embed_inputs(input_ids, "input_ids")
        for layer in self.encoder:
            x = layer(x, mask)
        return Output(last_hidden_state=self.encoder_final(x))

    def decode(
        self, ids: Tensor, memory: Tensor | None, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        """ids [B,T], memory [B,S,E] or None, masks bool [B,T] and [B,S] or None -> [B,T,E]"""
        mask, memory_mask = (m if m is None else m[:, None, None] for m in (mask, memory_mask))
        x = self.embed_inputs(ids, "decoder_input_ids", 0 if cache is None else cache.past)
        for layer in self.decoder:
            x = layer(x, memory, mask, memory_mask, cache)
        return self.decoder_final(x)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """logits [B,T,V], labels [B,T] -> scalar"""
        return cross_entropy(logits, labels)

    def score(self, x: Tensor) -> Tensor:
        """x [B,T,E] -> logits [B,T,V]"""
        bias = self.final_logits_bias[0].to(x.dtype) if self.LOGITS_BIAS and self.head == "seq2seq_lm" else None
        return word_scores(x, self.output_matrix(self.table("decoder")), bias)


MODEL = BART

HF = _fairseq.FairseqNameMap()
HF_HEADS = {
    "BartModel": None, "BartForConditionalGeneration": "seq2seq_lm", "BartForCausalLM": "causal_lm",
    "BartForSequenceClassification": "sequence_classification", "BartForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIXED = _fairseq.fixed_options(before=False, last=False, early=True, sinusoids=False)
