"""BERT (Devlin et al. 2018, arXiv:1810.04805): a bidirectional encoder, trained to fill in masked words.

Parent   transformer (by idea: its encoder half)
Differs  learned positions; token-type embeddings, which tell two sentences apart; norm and dropout after
         the embeddings; GELU; the first position, passed through a small layer (the pooler), represents the sequence
Trained  masked language modelling and next sentence, both at once (head "pretraining")
"""

from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Attention, Cache, Dropout, FeedForward
from ..nn.feed_forward import get_activation
from ..nn.relative_key import RelativeKeyAttention
from . import _base
from . import _task_heads as task_heads
from ._base import (
    LABEL_FIELDS,
    TIED_FIELDS,
    Model,
    TaskConfig,
    add_head,
    configuration,
    encoder_inputs,
    normal_init,
    replace_fields,
    to_padding_mask,
    with_head,
)
from ._checks import check_max_length, check_memory, embed_ids
from ._output import Output


@configuration
class Config(TaskConfig):
    vocab_size: int = 30522
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int = 3072
    max_length: int = 512
    n_types: int = 2
    activation: str = "gelu"
    dropout: float = 0.1
    attn_dropout: float = 0.1
    head_dropout: float | None = None  # default `dropout`
    eps: float = 1e-12
    is_decoder: bool | None = None  # causal attention; by default as the head needs it: True for "causal_lm"
    add_cross_attention: bool = False  # for a decoder
    position_type: str = "absolute"  # or "relative_key", "relative_key_query": by distance (Shaw et al. 2018)
    bos_token_id: int | None = None
    eos_token_id: int | None = None
    pad_token_id: int | None = 0


LARGE = {"d_model": 1024, "n_layers": 24, "n_heads": 16, "d_ff": 4096}
PRESETS: dict[str, dict[str, Any]] = {
    "bert-base-uncased": {},
    "bert-large-uncased": LARGE,
    "bert-base-cased": {"vocab_size": 28996},
    "bert-large-cased": {"vocab_size": 28996, **LARGE},
    "bert-base-multilingual-cased": {"vocab_size": 119547},
}


class Embeddings(nn.Module):
    """The sum of token, sentence type and position embeddings, then a norm; `width`: if it differs from the model's;
    positions: whether there is a table of them."""

    def __init__(self, c: Any, width: int | None = None, positions: bool = True) -> None:
        super().__init__()
        width = width or c.d_model
        self.tokens = nn.Embedding(c.vocab_size, width, padding_idx=c.pad_token_id)
        self.positions: Any = nn.Embedding(c.max_length, width) if positions else None
        self.types: Any = nn.Embedding(c.n_types, width) if c.n_types else None
        self.absolute = getattr(c, "position_type", "absolute") == "absolute"
        self.norm, self.drop = nn.LayerNorm(width, c.eps), Dropout(c.dropout)

    def make_position_ids(self, ids: Tensor) -> Tensor:
        """ids [B,L] -> position_ids [L]"""
        if self.positions is not None and ids.size(1) > self.positions.num_embeddings:
            raise ValueError(f"input_ids has length {ids.size(1)}, max_length is {self.positions.num_embeddings}")
        return torch.arange(ids.size(1), device=ids.device)

    def sum_embeddings(self, ids: Tensor, types: Tensor | None, position_ids: Tensor | None) -> Tensor:
        """ids and types [B,L], position_ids broadcastable to it or None -> [B,L,E]"""
        x = embed_ids(self.tokens, ids, "input_ids")
        if self.types is not None:
            x = x + (self.types.weight[0] if types is None else embed_ids(self.types, types, "token_type_ids"))
        if self.positions is not None and self.absolute:
            x = x + embed_ids(
                self.positions, self.make_position_ids(ids) if position_ids is None else position_ids, "position_ids"
            )
        return x

    def forward(self, ids: Tensor, types: Tensor | None, position_ids: Tensor | None) -> Tensor:
        """ids and types [B,L], position_ids broadcastable to it or None -> [B,L,E]"""
        return self.drop(self.norm(self.sum_embeddings(ids, types, position_ids)))


def attention(c: Any) -> nn.Module:
    """The attention that the configuration asks for: by content, or also by distance."""
    how: dict[str, Any] = {"dropout": c.attn_dropout, "causal": bool(getattr(c, "is_decoder", False))}
    kind = getattr(c, "position_type", "absolute")
    if kind not in ("absolute", "relative_key", "relative_key_query"):
        raise ValueError(f"position_embedding_type {kind!r} is not one of absolute, relative_key, relative_key_query")
    if kind == "absolute":
        return Attention(c.d_model, c.n_heads, **how)
    return RelativeKeyAttention(
        c.d_model, c.n_heads, max_distance=c.max_length, use_keys=kind == "relative_key_query", **how
    )


class PostNorm(nn.Module):
    """A layer without its attention: residual addition and norm after the attention and after the feed-forward
    network."""

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c.d_model, c.d_ff, get_activation(c.activation))
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)
        self.drop = Dropout(c.dropout)

    def after_attention(self, x: Tensor, attended: Tensor) -> Tensor:
        """x and the attention's output, [B,L,E] each -> [B,L,E]"""
        return self.feed_forward(self.norm1(x + self.drop(attended)))

    def feed_forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.norm2(x + self.drop(self.ff(x)))


class Layer(PostNorm):
    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.attn = attention(c)
        if getattr(c, "add_cross_attention", False):
            self.cross_attn = Attention(c.d_model, c.n_heads, dropout=c.attn_dropout)
            self.cross_norm = nn.LayerNorm(c.d_model, c.eps)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,K] or None; of a decoder: memory [B,S,E], memory_mask bool [B,1,1,S]
        -> [B,L,E]"""
        x = self.norm1(x + self.drop(self.attn(x, mask=mask, cache=cache)))
        if memory is not None:
            x = self.cross_norm(x + self.drop(self.cross_attn(x, memory, mask=memory_mask, cache=cache)))
        return self.feed_forward(x)


class Layers(nn.ModuleList):
    """The layers of the model, as many as its configuration says."""

    def __init__(self, c: Any) -> None:
        super().__init__(Layer(c) for _ in range(c.n_layers))


TASK_HEADS: dict[str | None, type[_base.Head]] = {
    "sequence_classification": task_heads.SequenceClassificationHead,
    "token_classification": task_heads.TokenClassificationHead,
    "question_answering": task_heads.QuestionAnsweringHead,
    "multiple_choice": task_heads.MultipleChoiceHead,
}


def resolve_is_decoder(config: Config, head: str | None, heads: tuple[str | str | None | None, ...]) -> Config:
    """The configuration, with `is_decoder` decided. Raises ValueError if the architecture has no decoder."""
    if getattr(config, "is_decoder", None) is None:
        return replace_fields(config, is_decoder=True) if head == "causal_lm" else config
    if config.is_decoder and "causal_lm" not in heads:
        raise ValueError("is_decoder is True, but this architecture has only bidirectional attention")
    return config


class BERT(Model):
    HEAD_CLASSES: dict[str | None, type[_base.Head]] = {
        None: _base.NoHeadWithPooler, "masked_lm": _base.MaskedLMHead, "causal_lm": _base.CausalLMHead,
        "pretraining": task_heads.PretrainingHead,
        "next_sentence": task_heads.NextSentenceHead, **TASK_HEADS,
    }  # fmt: skip
    PADDING_ROW = True
    MASKS_PAIRS: ClassVar[bool] = True  # whether attention_mask may say of each query which keys it sees
    HEADS = tuple(HEAD_CLASSES)
    EMBEDDINGS: type[Embeddings] = Embeddings
    LAYERS: Any = Layers

    init_weights = staticmethod(normal_init)  # also initialises the layers of a new head at loading

    def __init__(self, config: Config, head: str | None = None) -> None:
        config = resolve_is_decoder(config, head, self.HEADS)
        super().__init__(config, head)
        self.embed, self.layers = self.EMBEDDINGS(config), self.LAYERS(config)
        add_head(self, self.HEAD_CLASSES)
        self.apply(self.init_weights)

    def encode(
        self,
        ids: Tensor,
        mask: Tensor | None,
        types: Tensor | None,
        position_ids: Tensor | None,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """ids, types [B,L], mask bool [B,K] or [B,L,K] or None; a decoder: memory [B,S,E], memory_mask bool [B,S] ->
        [B,L,E]"""
        mask, memory_mask = (m if m is None else m.reshape(len(m), 1, -1, m.size(-1)) for m in (mask, memory_mask))
        if cache is not None and position_ids is None:
            check_max_length(self.config, "input_ids", ids, cache.past)
            position_ids = self.embed.make_position_ids(ids) + cache.past
        x = self.embed(ids, types, position_ids)
        of_decoder = (memory, memory_mask, cache) if self.config.is_decoder else ()
        for layer in self.layers:
            x = layer(x, mask, *of_decoder)
        return x

    def check_decoder(self, memory: Tensor | None, cache: Cache | None, use_cache: bool) -> None:
        """Raises ValueError for inputs that only a decoder can use."""
        if not self.config.is_decoder:
            given = {"encoder_hidden_states": memory, "cache": cache, "use_cache": use_cache or None}
            if wrong := [name for name, value in given.items() if value is not None]:
                raise ValueError(
                    f"{', '.join(wrong)}: {type(self).__name__} is not a decoder: create it with is_decoder=True"
                )
        elif memory is not None and not self.config.add_cross_attention:
            raise ValueError(
                "encoder_hidden_states: this decoder has no cross-attention: create it with add_cross_attention=True"
            )

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        encoder_hidden_states: Tensor | None = None,
        encoder_attention_mask: Tensor | None = None,
        cache: Cache | None = None,
        use_cache: bool = False,
        **targets: Any,
    ) -> Output:
        """input_ids, attention_mask, token_type_ids [B,L] ([B,C,L] for multiple choice); the mask of an encoder may be
        [B,L,L], 1 where query i sees key j. labels depend on the head: [B,L] (-100: not counted), [B];
        next_sentence_label [B]; start_positions, end_positions [B]. For a decoder: encoder_hidden_states [B,S,E],
        encoder_attention_mask [B,S]; with a cache input_ids are the new ones only, and attention_mask covers all ->
        Output: loss, logits, or the head's other fields; cache. Raises ValueError or TypeError for invalid inputs."""
        memory = encoder_hidden_states
        self.check_decoder(memory, cache, use_cache)
        cache = Cache() if use_cache and cache is None else cache
        given, targets = (input_ids, attention_mask, token_type_ids, position_ids), {"labels": labels, **targets}
        pairs = self.MASKS_PAIRS and not self.config.is_decoder
        inputs = encoder_inputs(self, *given, targets, past=0 if cache is None else cache.past, pairs=pairs)
        memory_mask = None
        if memory is not None:
            check_memory("encoder_hidden_states", inputs.ids, memory, self.config.d_model)
            memory_mask = to_padding_mask("encoder_attention_mask", encoder_attention_mask, memory.shape[:2])
        cross_attention = (memory, memory_mask, cache)
        x = self.encode(inputs.ids, inputs.mask, inputs.types, inputs.position_ids, *cross_attention)
        return with_head(self, inputs, x, cache)


MODEL = BERT

BODY = {
    "embeddings.word_embeddings": "embed.tokens",
    "embeddings.position_embeddings": "embed.positions",
    "embeddings.token_type_embeddings": "embed.types",
    "embeddings.LayerNorm": "embed.norm",
    "encoder.layer.{}.attention.self.query": "layers.{}.attn.q_proj",
    "encoder.layer.{}.attention.self.key": "layers.{}.attn.k_proj",
    "encoder.layer.{}.attention.self.value": "layers.{}.attn.v_proj",
    "encoder.layer.{}.attention.output.dense": "layers.{}.attn.o_proj",
    "encoder.layer.{}.attention.output.LayerNorm": "layers.{}.norm1",
    "encoder.layer.{}.attention.self.distance_embedding": "layers.{}.attn.distances",
    **{
        f"encoder.layer.{{}}.crossattention.{published}": f"layers.{{}}.{local}"
        for published, local in {
            "self.query": "cross_attn.q_proj", "self.key": "cross_attn.k_proj", "self.value": "cross_attn.v_proj",
            "output.dense": "cross_attn.o_proj", "output.LayerNorm": "cross_norm",
        }.items()
    },
    "encoder.layer.{}.intermediate.dense": "layers.{}.ff.up",
    "encoder.layer.{}.output.dense": "layers.{}.ff.down",
    "encoder.layer.{}.output.LayerNorm": "layers.{}.norm2",
    "pooler.dense": "pooler",
}  # fmt: skip
TASK_NAMES = {"classifier": "task_head.classifier", "qa_outputs": "task_head.qa_outputs"}
TASK_NAMES |= {
    "classifier.dense": "task_head.pre_classifier",
    "classifier.out_proj": "task_head.score",
}  # in `task_heads.ClsTokenClassificationHead`
CONSTANT = [r"embeddings\.(position|token_type)_ids"]


def task_classes(name: str) -> dict[str, str]:
    """transformers' class names for the tasks that every encoder has -> the heads here."""
    return {name + "For" + "".join(word.title() for word in head.split("_")): head for head in TASK_HEADS if head}


HF = NameMap(
    BODY,
    prefix="bert.",
    heads={
        "cls.predictions.transform.dense": "task_head.dense",
        "cls.predictions.transform.LayerNorm": "task_head.norm",
        "cls.predictions.bias": "task_head.bias",
        "cls.seq_relationship": "task_head.seq_relationship",
        **TASK_NAMES,
    },
    tied={
        "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    },
    constant=CONSTANT,
)
HF_HEADS = {
    "BertModel": None, "BertForPreTraining": "pretraining", "BertForMaskedLM": "masked_lm",
    "BertLMHeadModel": "causal_lm",
    "BertForNextSentencePrediction": "next_sentence", **task_classes("Bert"),
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "hidden_size": "d_model", "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads", "intermediate_size": "d_ff", "max_position_embeddings": "max_length",
    "type_vocab_size": "n_types", "hidden_act": "activation", "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attn_dropout", "classifier_dropout": "head_dropout", "layer_norm_eps": "eps",
    **LABEL_FIELDS, **TIED_FIELDS,
    "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id", "pad_token_id": "pad_token_id",
}  # fmt: skip
DECODER_FIELDS = {"is_decoder": "is_decoder", "add_cross_attention": "add_cross_attention"}
HF_FIELDS |= {**DECODER_FIELDS, "position_embedding_type": "position_type"}
HF_DEFAULTS = {"is_decoder": False}
HF_FIXED: dict[str, Any] = {}
ENCODER_FIXED = {"is_decoder": False, "add_cross_attention": False, "position_embedding_type": "absolute"}
ENCODER_FIELDS = {published: local for published, local in HF_FIELDS.items() if published not in ENCODER_FIXED}
HF_UNUSED = {"initializer_range", "directionality", "pooler_fc_size", "pooler_num_attention_heads",
             "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"}  # fmt: skip
