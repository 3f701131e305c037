"""ProphetNet (Qi et al. 2020, arXiv:2001.04063): predict the next n words at once, so as to plan ahead.

Parent   bart (by idea)
Differs  BART's layers and learned positions, counted from pad_token_id + 1. The decoder runs 1 + n streams through the
         same weights (nn.ngram_attention): the main one reads the words; predicting stream s has no words, only the
         next position and an embedding of s, and attends to the main stream up to s words back, and to itself. Heads:
         seq2seq, the decoder alone (causal_lm, labels not shifted), the encoder alone.
Trained  every stream on the same word, of which stream s has not seen the s words before. `eps` smooths the labels.

Since transformers moved the batch dimension to the front, it pairs the bucket scores with the rows of other positions,
including later ones, except when it decodes word by word, when its streams also see all words. `paired` = False
computes that, and is the default for a config.json without the field; the paper, caches and causality need True.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Attention, Cache, Dropout, FeedForward, NgramAttention, make_ngram_context
from ..nn.feed_forward import get_activation
from ..nn.ngram_attention import NgramContext
from ..nn.positions import table_slice
from ..objectives.cross_entropy import check_labels, cross_entropy
from . import bart
from ._base import Model, configuration, normal_init, to_padding_mask
from ._checks import check_ids, check_memory, embed_ids
from ._output import Output
from ._seq2seq import decoder_ids, decoder_states, states_of


@configuration
class Config:
    vocab_size: int = 30522
    d_model: int = 1024
    n_layers: int = 12
    n_heads: int = 16
    d_ff: int = 4096
    n_decoder_layers: int = 12
    n_decoder_heads: int = 16
    d_decoder_ff: int = 4096
    max_length: int = 512
    ngram: int = 2  # number of predicting streams
    n_buckets: int = 32
    max_distance: int = 128
    paired: bool = True
    cross_attention: bool = True
    activation: str = "gelu"
    dropout: float = 0.1
    attn_dropout: float = 0.1
    ff_dropout: float = 0.1
    eps: float = 0.0
    disable_ngram_loss: bool = False  # whether to train on the next word only
    tie_word_embeddings: bool = True  # False: encoder, decoder and output each have a table of their own
    bos_token_id: int = 102
    pad_token_id: int = 0
    eos_token_id: int = 102
    decoder_start_token_id: int = 102


PRESETS: dict[str, dict[str, Any]] = {"prophetnet-large-uncased": {}}


class DecoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn = NgramAttention(c.d_model, c.n_decoder_heads, c.n_buckets, c.attn_dropout)
        self.ff = FeedForward(c.d_model, c.d_decoder_ff, get_activation(c.activation), c.ff_dropout)
        self.norm1, self.norm3, self.drop = nn.LayerNorm(c.d_model), nn.LayerNorm(c.d_model), Dropout(c.dropout)
        if c.cross_attention:
            self.cross_attn = Attention(c.d_model, c.n_decoder_heads, dropout=c.attn_dropout)
            self.norm2 = nn.LayerNorm(c.d_model)

    def forward(
        self, x: Tensor, memory: Tensor | None, context: NgramContext, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        """x [B,(1+N)T,E], memory [B,S,E] or None, context: `NgramContext`, memory_mask bool [B,1,1,S] or None
        -> [B,(1+N)T,E]"""
        x = self.norm1(x + self.drop(self.self_attn(x, context, cache=cache)))
        if memory is not None:  # a decoder without an encoder has none
            x = self.norm2(x + self.drop(self.cross_attn(x, memory, mask=memory_mask, cache=cache)))
        return self.norm3(x + self.drop(self.ff(x)))


class ProphetNet(Model):
    PADDING_ROW = True
    HEADS: ClassVar = (None, "seq2seq_lm", "causal_lm", "encoder")

    init_weights = staticmethod(normal_init)  # also initialises the layers of a new head at loading

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        c = config
        self.embed = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.decoder_embed: nn.Embedding | None = None
        self.drop = Dropout(c.dropout)
        if head != "causal_lm":
            self.encoder = nn.ModuleList(bart.EncoderLayer(c) for _ in range(c.n_layers))
            self.encoder_position, self.encoder_norm = self.make_positions(), nn.LayerNorm(c.d_model)
        if head != "encoder":
            self.decoder = nn.ModuleList(DecoderLayer(c) for _ in range(c.n_decoder_layers))
            self.decoder_position, self.decoder_norm = self.make_positions(), nn.LayerNorm(c.d_model)
            self.ngram_embed = nn.Embedding(c.ngram, c.d_model)
        if not c.tie_word_embeddings:
            self.make_separate_tables()
        self.apply(self.init_weights)

    def make_separate_tables(self) -> None:
        """Creates the decoder's own word embeddings, if there is an encoder too, and the head's output matrix."""
        if self.head in (None, "seq2seq_lm"):
            self.decoder_embed = nn.Embedding(self.config.vocab_size, self.config.d_model, self.config.pad_token_id)
        if self.head in ("seq2seq_lm", "causal_lm"):
            self.untie(self.embed)

    @property
    def names(self) -> NameMap:
        """An encoder without a decoder is published under other names, and so are tables that are not shared."""
        if self.head == "encoder":
            return HF_ENCODER
        return HF if self.config.tie_word_embeddings else UntiedProphetNetNameMap(decoder_only=self.head == "causal_lm")

    @property
    def last_position(self) -> int:
        """Positions count from pad_token_id + 1, and a stream predicts at the position after the last token."""
        return self.config.max_length - self.config.pad_token_id - 2

    def make_positions(self) -> nn.Embedding:
        """Positions count from pad_token_id + 1; the row of pad_token_id is not trained."""
        return nn.Embedding(self.config.max_length, self.config.d_model, padding_idx=self.config.pad_token_id)

    def embed_inputs(self, ids: Any, name: str, past: Tensor | int = 0) -> Tensor:
        """ids [B,L] -> [B,L,E] of the encoder, [B,(1+N)L,E] of the decoder's streams"""
        c, (rows, new) = self.config, ids.shape
        first, end = past + c.pad_token_id + 1, past + new
        reads = name == "input_ids" and self.head != "causal_lm"
        words = embed_ids(self.embed if reads or self.decoder_embed is None else self.decoder_embed, ids, name)
        if reads:
            if end > c.max_length:
                raise ValueError(f"{name} reaches position {end}, max_length is {c.max_length}")
            # as in the published code, positions beyond the table read its last row
            positions = torch.arange(first, first + new, device=ids.device).clamp(max=c.max_length - 1)
            return self.drop(self.encoder_norm(words + self.encoder_position(positions)))
        is_unknown = isinstance(past, torch.Tensor) and torch.compiler.is_compiling()
        if not is_unknown and first + new >= c.max_length:  # a stream predicts at the next position
            room = c.max_length - c.pad_token_id - 2
            raise ValueError(f"{name} reaches position {int(end)}; max_length {c.max_length} leaves room for {room}")
        positions = table_slice(self.decoder_position.weight, first, new + 1)
        streams = (
            positions[1:] + self.ngram_embed.weight.roll(1, 0)[:, None]
        )  # [N,L,E]; the first stream has the last row
        streams = streams.flatten(0, 1).expand(rows, -1, -1)
        return self.drop(self.decoder_norm(torch.cat([words + positions[:-1], streams], 1)))

    def encode(self, input_ids: Tensor | None, attention_mask: Tensor | None = None) -> Output:
        """input_ids, attention_mask [B,S] -> Output with last_hidden_state [B,S,E]"""
        mask = to_padding_mask("attention_mask", attention_mask, check_ids("input_ids", input_ids).shape)
        mask = None if mask is None else mask[:, None, None]
        x = self.embed_inputs(input_ids, "input_ids")
        for layer in self.encoder:
            x = layer(x, mask)
        return Output(last_hidden_state=x)

    def decode(
        self, ids: Tensor, memory: Tensor | None, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        """-> the states of all streams [B,(1+N)T,E], the main one first"""
        c, past, new = self.config, 0 if cache is None else cache.past, ids.size(1)
        keys = new if cache is None else cache.width(new)
        x = self.embed_inputs(ids, "input_ids" if self.head == "causal_lm" else "decoder_input_ids", past)
        how = {"buckets": c.n_buckets, "max_distance": c.max_distance, "paired": c.paired}
        context = make_ngram_context(x[:, :new], c.ngram, past, keys, mask, **how)
        memory_mask = None if memory_mask is None else memory_mask[:, None, None]
        for layer in self.decoder:
            x = layer(x, memory, context, memory_mask, cache)
        return x

    def name_states(self, states: dict[str, list[Tensor]], out: Output) -> dict[str, Any]:
        """The decoder's layers read all streams at once: this separates the main stream from the predicting ones."""
        found = {}
        for side, tensors in states.items():
            name = f"{side}_hidden_states".lstrip("_")
            if side == "decoder" or self.head == "causal_lm":
                new = tensors[0].size(1) // (1 + self.config.ngram)
                others = "hidden_states_ngram" if self.head == "causal_lm" else "decoder_ngram_hidden_states"
                found[others] = tuple(x[:, new:] for x in tensors)
                tensors = [x[:, :new] for x in tensors]
            found[name] = tuple(tensors)
        return found

    def name_attentions(self, weights: dict[str, list[Tensor]], out: Output) -> dict[str, Any]:
        """The main stream's [B,H,T,K] apart from the predicting streams', [B,N,H,T,K+T]: of their own T keys, each
        query has only that of its own position."""
        side = "" if self.head == "causal_lm" else "decoder"
        found, both = dict(weights), weights.get(side, [])
        if self.head != "encoder":
            found[side], found[f"{side}_ngram".lstrip("_")] = both[::2], [self.by_stream(x) for x in both[1::2]]
        return {f"{side}_attentions".lstrip("_"): tuple(tensors) for side, tensors in found.items()}

    def by_stream(self, weights: Tensor) -> Tensor:
        """[B,H,NT,K+1], the own key last -> [B,N,H,T,K+T]"""
        weights = weights.unflatten(2, (self.config.ngram, -1)).transpose(1, 2)
        return torch.cat([weights[..., :-1], torch.diag_embed(weights[..., -1])], -1)

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """logits [B,N,T,V], labels [B,T]: the same for every stream"""
        logits = logits[:, :1] if self.config.disable_ngram_loss else logits
        check_labels(logits[:, 0], labels)
        labels, vocab = labels[:, None].expand(logits.shape[:3]), logits.size(-1)
        return cross_entropy(logits.flatten(1, 2), labels.flatten(1), self.config.eps * (vocab - 1) / vocab)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        encoder_outputs: Output | None = None,
        cache: Cache | None = None,
        use_cache: bool = False,
    ) -> Output:
        """As the parent's; a decoder without an encoder reads input_ids, and encoder_outputs [B,S,E] if it has
        cross-attention -> Output: loss, logits [B,T,V] of the next word, logits_ngram [B,N-1,T,V] of the others,
        last_hidden_state [B,T,E], last_hidden_state_ngram [B,NT,E], encoder_last_hidden_state [B,S,E], cache."""
        if self.head == "encoder":
            return self.encode_only(input_ids, attention_mask, decoder_input_ids, labels)
        self.require_head(labels)
        cache = Cache() if use_cache and cache is None else cache
        if self.head == "causal_lm":
            ids, memory = check_ids("input_ids", input_ids), None
            if encoder_outputs is not None:
                memory = check_memory("encoder_outputs", ids, states_of(encoder_outputs), self.config.d_model)
            past = 0 if cache is None else cache.past
            mask = to_padding_mask("attention_mask", attention_mask, (ids.size(0), past + ids.size(1)))
            x = self.decode(ids, memory, mask, None, cache)
        else:
            ids = decoder_ids(self.config, decoder_input_ids, labels)
            given = (ids, decoder_attention_mask, encoder_outputs, cache)
            x, memory = decoder_states(self, input_ids, attention_mask, *given)
        found = {"last_hidden_state": x[:, : ids.size(1)], "last_hidden_state_ngram": x[:, ids.size(1) :]}
        return Output(
            self.head_outputs(x[:, ids.size(1) :], labels) | found, encoder_last_hidden_state=memory, cache=cache
        )

    def encode_only(
        self,
        input_ids: Tensor | None,
        attention_mask: Tensor | None,
        decoder_input_ids: Tensor | None,
        labels: Tensor | None,
    ) -> Output:
        """input_ids, attention_mask [B,S]. Raises TypeError for arguments that only a decoder could use."""
        if labels is not None or decoder_input_ids is not None:
            raise TypeError("head 'encoder' takes input_ids and attention_mask: it has no decoder and no loss")
        return self.encode(input_ids, attention_mask)

    def head_outputs(self, x: Tensor, labels: Tensor | None) -> dict[str, Any]:
        """x [B,NT,E], labels [B,T] or None -> the fields of the head"""
        if not self.head:
            return {}
        logits = F.linear(x, self.output_matrix(self.embed)).unflatten(1, (self.config.ngram, -1))  # [B,N,T,V]
        loss = None if labels is None else self.loss(logits, labels)
        return {"loss": loss, "logits": logits[:, 0], "logits_ngram": logits[:, 1:] if self.config.ngram > 1 else None}


MODEL = ProphetNet


def _side(side: str, norms: Sequence[str]) -> dict[str, str]:
    parts = {"feed_forward.intermediate": "ff.up", "feed_forward.output": "ff.down"}
    parts |= {f"{name}_layer_norm": f"norm{index}" for index, name in enumerate(norms, 1)}
    parts["self_attn.relative_pos_embeddings"] = "self_attn.relative"
    for attention in ("self_attn", "cross_attn"):
        names = {"query": "q", "key": "k", "value": "v", "out": "o"}
        parts |= {f"{attention}.{published}_proj": f"{attention}.{local}_proj" for published, local in names.items()}
    table = {"position_embeddings": f"{side}_position", "embeddings_layer_norm": f"{side}_norm"}
    return table | {f"layers.{{}}.{published}": f"{side}.{{}}.{local}" for published, local in parts.items()}


ENCODER = _side("encoder", ["self_attn", "feed_forward"])
DECODER = _side("decoder", ["self_attn", "cross_attn", "feed_forward"]) | {"ngram_embeddings": "ngram_embed"}
COPIES = [
    f"{name}.weight" for name in ("word_embeddings", "decoder.word_embeddings", "encoder.word_embeddings", "lm_head")
]


class ProphetNetNameMap(NameMap):
    """words: the copy of the word table that is written; when reading a file, any copy will do."""

    def __init__(self, words: str = "word_embeddings") -> None:
        sides = {f"encoder.{published}": local for published, local in ENCODER.items()}
        sides |= {f"decoder.{published}": local for published, local in DECODER.items()}
        tied = {copy: f"{words}.weight" for copy in COPIES if copy != f"{words}.weight"}
        super().__init__({words: "embed", **sides}, prefix="prophetnet.", tied=tied)
        self.words = f"{words}.weight"

    def load(self, published: dict[str, Tensor]) -> dict[str, Tensor]:
        published = self.strip_prefix(published)
        found = [published[name] for name in (self.words, *COPIES) if name in published]
        return super().load({**published, self.words: found[0]} if found else published)


class UntiedProphetNetNameMap(NameMap):
    """If nothing is shared. decoder_only: for a decoder without its encoder. transformers' models also have an unused
    table of words: it is ignored when reading, and written as a copy."""

    UNREAD = "word_embeddings.weight"

    def __init__(self, decoder_only: bool) -> None:
        sides = {} if decoder_only else {f"encoder.{published}": local for published, local in ENCODER.items()}
        sides |= {f"decoder.{published}": local for published, local in DECODER.items()}
        self.first = "decoder" if decoder_only else "encoder"
        words = {f"{self.first}.word_embeddings": "embed", "decoder.word_embeddings": "embed"}
        words |= {} if decoder_only else {"decoder.word_embeddings": "decoder_embed"}
        super().__init__({**sides, **words}, prefix="prophetnet.", heads={"lm_head": "output"})

    def for_untied_output(self) -> Self:
        return self

    def load(self, published: dict[str, Tensor]) -> dict[str, Tensor]:
        return super().load(
            {name: tensor for name, tensor in self.strip_prefix(published).items() if name != self.UNREAD}
        )

    def dump(self, local: dict[str, Tensor], *, with_head: bool) -> dict[str, Tensor]:
        found, prefix = super().dump(local, with_head=with_head), self.prefix if with_head else ""
        copied = found.get(f"{prefix}{self.first}.{self.UNREAD}")
        return found if copied is None else {**found, prefix + self.UNREAD: copied.clone()}


HF = ProphetNetNameMap()
# an encoder published on its own has no prefix "encoder."
HF_ENCODER = NameMap({"word_embeddings": "embed", **ENCODER})
HF_HEADS = {
    "ProphetNetModel": None, "ProphetNetForConditionalGeneration": "seq2seq_lm", "ProphetNetForCausalLM": "causal_lm",
    "ProphetNetEncoder": "encoder",
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "hidden_size": "d_model", "num_encoder_layers": "n_layers",
    "num_encoder_attention_heads": "n_heads", "encoder_ffn_dim": "d_ff", "num_decoder_layers": "n_decoder_layers",
    "num_decoder_attention_heads": "n_decoder_heads", "decoder_ffn_dim": "d_decoder_ff",
    "max_position_embeddings": "max_length", "ngram": "ngram", "num_buckets": "n_buckets",
    "relative_max_distance": "max_distance", "paired": "paired", "add_cross_attention": "cross_attention",
    "activation_function": "activation", "dropout": "dropout", "attention_dropout": "attn_dropout",
    "activation_dropout": "ff_dropout", "eps": "eps", "disable_ngram_loss": "disable_ngram_loss",
    "bos_token_id": "bos_token_id", "pad_token_id": "pad_token_id", "eos_token_id": "eos_token_id",
    "decoder_start_token_id": "decoder_start_token_id", "tie_word_embeddings": "tie_word_embeddings",
}  # fmt: skip
HF_DEFAULTS = {"paired": False}  # transformers' defaults, for fields that a file omits
HF_FIXED = {"encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0}
HF_UNUSED = {"init_std", "is_decoder", "encoder_max_position_embeddings", "decoder_max_position_embeddings",
             "output_past", "num_hidden_layers"}  # fmt: skip
