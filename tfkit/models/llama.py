"""Llama (Touvron et al. 2023, arXiv:2302.13971 and arXiv:2307.09288; Grattafiori et al. 2024, arXiv:2407.21783).

Parent   gpt2 (by idea)
Differs  rotary positions (RoPE) instead of a table; RMSNorm, without mean or bias, instead of LayerNorm; a gated
         feed-forward network (SwiGLU); no biases; from Llama 2 on grouped-query attention: several query heads share
         one key-value head, which shrinks the cache; an untied output matrix, or a tied one (3.2)
Trained  objectives.causal_lm
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Cache, flex
from ..nn.feed_forward import GatedFeedForward, get_activation
from ..nn.grouped_query import GroupedQueryAttention, Rotation
from ..nn.positions import position_range
from ..nn.rms_norm import RMSNorm
from ..nn.rope import rope_frequencies, rope_rotation
from ..objectives.cross_entropy import cross_entropy, next_labels, word_scores
from . import _base
from . import _task_heads as task_heads
from ._base import LABEL_FIELDS, Model, TaskConfig, configuration, to_padding_mask
from ._checks import check_ids, check_layer_types, check_rotary_width, check_some_layers, embed_ids
from ._output import Output
from ._rope import read_rope, write_rope

Past = int | Tensor  # from a cache of fixed size: int64 []
FULL, SLIDING = "full_attention", "sliding_attention"
OUTGROWN = (
    "original_max_position_embeddings={} lies between the length of the text and the length for which LongRoPE rotated "
    "the keys in the cache: read the whole text without the cache, as tfkit.generate does"
)


@configuration
class Config(TaskConfig):
    vocab_size: int = 32000
    d_model: int = 4096
    n_layers: int = 32
    n_heads: int = 32
    n_kv_heads: int | None = None  # default n_heads
    d_head: int | None = None  # default d_model / n_heads
    d_ff: int = 11008
    max_length: int = 2048  # of the texts in training; no position table ends there
    activation: str = "silu"
    attn_bias: bool = False  # of all four projections
    ff_bias: bool = False
    attn_dropout: float = 0.0
    head_dropout: float = 0.1  # of token classification
    eps: float = 1e-6
    rope_theta: float = 10000.0
    rope_scaling: dict[str, Any] | None = None
    tie_word_embeddings: bool = False
    init_std: float = 0.02
    bos_token_id: int | None = 1
    eos_token_id: int | list[int] | None = 2
    pad_token_id: int | None = None


LLAMA3: dict[str, Any] = {
    "vocab_size": 128256, "d_ff": 14336, "n_kv_heads": 8, "eps": 1e-5, "rope_theta": 500000.0, "max_length": 8192,
    "bos_token_id": 128000, "eos_token_id": 128001,
}  # fmt: skip
LLAMA31 = {
    "max_length": 131072,
    "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                     "original_max_position_embeddings": 8192},
}  # fmt: skip
LLAMA32 = {"rope_scaling": {**LLAMA31["rope_scaling"], "factor": 32.0}, "tie_word_embeddings": True}  # type: ignore[dict-item]
PRESETS: dict[str, dict[str, Any]] = {
    "llama-7b": {},
    "llama-13b": {"d_model": 5120, "n_layers": 40, "n_heads": 40, "d_ff": 13824},
    "llama-2-7b": {"max_length": 4096, "eps": 1e-5},
    "llama-2-70b": {
        "d_model": 8192, "n_layers": 80, "n_heads": 64, "n_kv_heads": 8, "d_ff": 28672, "max_length": 4096, "eps": 1e-5,
    },
    "llama-3-8b": LLAMA3,
    "llama-3.1-8b": {**LLAMA3, **LLAMA31},
    "llama-3.2-1b": {**LLAMA3, **LLAMA31, **LLAMA32, "d_model": 2048, "n_layers": 16, "d_ff": 8192},
    "llama-3.2-3b": {**LLAMA3, **LLAMA31, **LLAMA32, "d_model": 3072, "n_layers": 28, "n_heads": 24, "d_ff": 8192},
    "smollm2-135m": {
        "vocab_size": 49152, "d_model": 576, "n_layers": 30, "n_heads": 9, "n_kv_heads": 3, "d_ff": 1536,
        "max_length": 8192, "eps": 1e-5, "rope_theta": 100000.0, "tie_word_embeddings": True, "bos_token_id": 0,
        "eos_token_id": 0,
    },
}  # fmt: skip


class Parts(nn.Module):
    """The parts of a layer: two norms, attention and feed-forward network, each created by a method that a child class
    may override."""

    def __init__(self, c: Config, index: int) -> None:
        super().__init__()
        self.norm1 = self.norm(c)
        self.attn = self.attention(c, index)
        self.norm2 = self.norm(c)
        self.ff = self.feed_forward(c, index)

    def norm(self, c: Any) -> nn.Module:  # in a child: its own Config, here and below
        return RMSNorm(c.d_model, c.eps)

    def attention(self, c: Any, index: int) -> nn.Module:
        return GroupedQueryAttention(
            c.d_model, c.n_heads, c.n_kv_heads, d_head=c.d_head, bias=c.attn_bias, out_bias=c.attn_bias,
            dropout=c.attn_dropout,
        )  # fmt: skip

    def feed_forward(self, c: Any, index: int) -> nn.Module:
        return GatedFeedForward(c.d_model, c.d_ff, get_activation(c.activation), c.ff_bias)


class Layer(Parts):
    """Norm before each sub-layer; x + attention, x + feed-forward."""

    def forward(self, x: Tensor, rotation: Rotation, mask: Tensor | None, cache: Cache | None) -> Tensor:
        """x [B,L,E], mask bool, broadcastable to [B,H,L,K] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x), rotation, mask=mask, cache=cache)
        return x + self.ff(self.norm2(x))


CLASSIFICATION_HEADS: dict[str | None, type[_base.Head]] = {
    "sequence_classification": task_heads.LastTokenClassificationHead,
    "token_classification": task_heads.DecoderTokenClassificationHead,
}  # fmt: skip


class Llama(Model):
    HEAD_CLASSES: dict[str | None, type[_base.Head]] = {
        **CLASSIFICATION_HEADS,
        "question_answering": task_heads.QuestionAnsweringHead,
    }  # fmt: skip
    HEADS: ClassVar[tuple[str | None, ...]] = (None, "causal_lm", *HEAD_CLASSES)
    QA_PREFIX: ClassVar[str | None] = "transformer."  # of files with question answering; None: as for other heads
    LAYER: ClassVar[Any] = Layer
    WORD_HEAD: ClassVar[str] = "causal_lm"
    LAYER_KINDS: ClassVar[tuple[str, str]] = (FULL, SLIDING)
    FLEX_ATTENTION = True
    ZERO_PADDING = True  # whether the padding token's embedding is zero and stays zero

    def __init__(self, config: Any, head: str | None = None) -> None:
        super().__init__(config, head)
        c = config
        check_some_layers(c)
        check_layer_types(self.layer_types(), self.LAYER_KINDS, c)
        width = self.embed_width()
        padding = c.pad_token_id if self.ZERO_PADDING and c.pad_token_id in range(c.vocab_size) else None
        self.embed = nn.Embedding(c.vocab_size, width, padding)
        self.layers = nn.ModuleList(self.LAYER(c, index) for index in range(c.n_layers))
        self.check_rotation()
        self.norm = self.last_norm()
        if head == self.WORD_HEAD and not c.tie_word_embeddings:
            self.lm_head = nn.Linear(width, c.vocab_size, bias=False)
        self.task_head = self.HEAD_CLASSES[head](replace(c, d_model=width)) if head in self.HEAD_CLASSES else None
        self.apply(self.init_weights)

    @property
    def names(self) -> NameMap:
        """The map of tensor names of the model's own module; a tied model's file may hold its matrix twice."""
        module = sys.modules[type(self).__module__]
        names: NameMap = module.HF_TIED if self.config.tie_word_embeddings else module.HF
        return names.with_prefix(self.QA_PREFIX) if self.QA_PREFIX and self.head == "question_answering" else names

    def embed_width(self) -> int:
        """The width of the embeddings, and of the heads' input."""
        return self.config.d_model

    def last_norm(self) -> nn.Module:
        """The norm after all layers, of their kind."""
        first: Any = self.layers[0]
        return first.norm(self.config)

    def init_weights(self, module: nn.Module) -> None:
        """Initialises the weights: normal, with biases at zero."""
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=self.config.init_std)
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            nn.init.zeros_(module.weight[module.padding_idx])
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def layer_types(self) -> list[str]:
        """The attention of each layer: full, or within a window."""
        window = getattr(self.config, "window", None)
        return [FULL if window is None else SLIDING] * self.config.n_layers

    def rotation(self, kind: str, positions: Tensor, length: int, dtype: torch.dtype) -> Rotation | None:
        """cos and sin [B or 1,1,L,R] for the layers of a kind, None for those without positions; length: of the whole
        text so far"""
        c = self.config
        frequencies, factor = rope_frequencies(
            self.rotary_width(), c.rope_theta, c.rope_scaling, length=length, max_length=c.max_length, dtype=dtype,
            device=positions.device,
        )  # fmt: skip
        return rope_rotation(positions, frequencies, factor, dtype)

    def rotary_width(self) -> int:
        """The number of columns of a head that are rotated by its position."""
        c = self.config
        return int((c.d_head or c.d_model // c.n_heads) * getattr(c, "rotary_fraction", 1.0))

    def check_rotation(self) -> None:
        """Raises ValueError if the width of a head does not fit its rotation."""
        d_head = self.config.d_head or self.config.d_model // self.config.n_heads
        check_rotary_width("d_head", d_head, self.rotary_width())

    def reach(self) -> tuple[int, int]:
        """How many keys before and after itself a query sees in a layer with a window; 0 after: left to causality."""
        return self.config.window - 1, 0

    def window_mask(self, mask: Tensor | None, positions: Tensor, keys: int) -> Tensor | None:
        """mask bool [B,1,1,K] or None, positions [L] of the new keys among all -> the mask of a layer with a window, or
        the given mask if all keys are within it"""
        before, after = self.reach()
        if keys <= before + 1:
            return mask
        at = torch.arange(keys, device=positions.device)
        near = at >= positions[:, None] - before  # [L,K]
        near = near & (at <= positions[:, None] + after) if after else near
        return near if mask is None else F.pad(mask, (0, keys - mask.size(-1))) & near

    def layer_masks(self, mask: Tensor | None, positions: Tensor, keys: int, cache: Cache | None) -> dict[str, Any]:
        """mask bool [B,1,1,K] or None, positions [L] of the new keys among all -> the mask of each kind of layer"""
        kinds = set(self.layer_types())
        if flex.is_chosen(self, len(positions), positions.device, cache, self.config.attn_dropout):
            full = flex.visible(None if mask is None else mask[:, 0, 0])
            return {kind: full & flex.window(*self.reach()) if kind == SLIDING else full for kind in kinds}
        return {kind: self.window_mask(mask, positions, keys) if kind == SLIDING else mask for kind in kinds}

    @property
    def last_position(self) -> int | None:
        """None: no position table limits the text. Rotary frequencies may depend on its length, though not in a
        graph."""
        scaling = self.config.rope_scaling or {}
        ends = {"dynamic": self.config.max_length, "longrope": scaling.get("original_max_position_embeddings")}
        return ends.get(scaling.get("rope_type", "default"))

    @property
    def rotations_change_after(self) -> int | None:
        """The length beyond which all positions are rotated otherwise, those in a cache too, so that whoever decodes
        has to start the cache anew. None: a cache keeps its rotations, as in transformers."""
        return None

    def text_length(self, positions: Tensor, cache: Cache | None, past: Past, new: int) -> int:
        """The length of the text up to its `new` last tokens, which frequencies may depend on: of the longest one in
        a batch. Warns if a cache holds keys that would now be rotated otherwise."""
        if isinstance(past, Tensor) and torch.compiler.is_compiling():  # see `last_position`
            return new
        past_length = 0 if cache is None else cache.length
        length = past_length + new
        if positions.dim() > 1 and self.last_position is not None and not torch.compiler.is_compiling():
            length = length if positions.is_meta else int(positions.max()) + 1
        if self.rotations_change_after is not None and cache is not None:
            is_beyond = length > self.rotations_change_after
            if not past_length:
                cache.constants[self] = is_beyond
            elif cache.constants.get(self, is_beyond) != is_beyond:
                warnings.warn(OUTGROWN.format(self.rotations_change_after), stacklevel=2)
        return length

    @property
    def position_limit(self) -> int | None:
        """None: rotary positions go on."""
        return None

    def hidden(self, x: Tensor, positions: Tensor, mask: Tensor | None, cache: Cache | None, past: Past) -> Tensor:
        """x [B,L,E] embedded, positions int [B,L] or [L], mask bool [B,1,1,K] or None -> [B,L,E]"""
        new, kinds = x.size(1), self.layer_types()
        length = self.text_length(positions, cache, past, new)
        keys, among = new if cache is None else cache.width(new), position_range(past, new, x.device)
        masks = self.layer_masks(mask, among, keys, cache)
        rotations = {kind: self.rotation(kind, positions, length, x.dtype) for kind in set(kinds)}
        for layer, kind in zip(self.layers, kinds, strict=True):
            x = layer(x, rotations[kind], masks[kind], cache)
        return self.norm(x)

    def positions(self, ids: Tensor, non_padding: Tensor | None, past: Past) -> Tensor:
        """The positions of ids [B,L] after `past` others, unless they are given -> int64 [B,L] or [L]"""
        return position_range(past, ids.size(1), ids.device)

    def growing_cache(self) -> Cache:
        """An empty cache, as `use_cache=True` asks for."""
        return Cache()

    def embed_inputs(self, ids: Tensor) -> Tensor:
        """ids [B,L] -> [B,L,E]"""
        return embed_ids(self.embed, ids, "input_ids")

    def score(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> logits [B,L,V]"""
        return word_scores(x, self.embed.weight if self.config.tie_word_embeddings else self.lm_head.weight)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        cache: Cache | None = None,
        use_cache: bool = False,
        logits_to_keep: int = 0,
        **targets: Any,
    ) -> Output:
        """input_ids [B,L], labels [B,L] (shifted inside; -100: not counted), or as the head needs -> Output: loss,
        logits [B,L,V], last_hidden_state [B,L,E], cache. With a cache, input_ids are the new ones only and
        attention_mask covers all; logits_to_keep: the number of last positions whose logits are computed, 0: all.
        Raises ValueError or TypeError for invalid inputs."""
        targets = self.check_targets({"labels": labels, **targets})
        ids = check_ids("input_ids", input_ids)
        cache = self.growing_cache() if use_cache and cache is None else cache
        past = 0 if cache is None else cache.past
        non_padding = to_padding_mask("attention_mask", attention_mask, (ids.size(0), past + ids.size(1)))
        mask = None if non_padding is None else non_padding[:, None, None]
        positions = self.positions(ids, non_padding, past) if position_ids is None else position_ids
        x = self.hidden(self.embed_inputs(ids), positions, mask, cache, past)
        if self.task_head is not None:
            inputs = _base.HeadInputs(x, None, self.embed.weight, self.default_mask(ids, non_padding), 1)
            return Output(self.task_head(inputs, **targets), cache=cache)
        logits = loss = None
        if self.head:
            logits = self.score(x[:, -logits_to_keep:])
            loss = None if labels is None else cross_entropy(logits, next_labels(labels))
        return Output(loss=loss, logits=logits, last_hidden_state=x, cache=cache)

    def default_mask(self, ids: Tensor, non_padding: Tensor | None) -> Tensor | None:
        """Which of ids [B,L] are not padding: by the padding token, if there is one, or else by the mask bool [B,K] ->
        bool [B,L] or None"""
        if self.config.pad_token_id is not None:
            return ids != self.config.pad_token_id
        return non_padding if non_padding is None else non_padding[:, -ids.size(1) :]


MODEL = Llama


def llama_names(tied: bool, changes: dict[str, Any] | None = None, unread: Iterable[str] = (), **more: Any) -> NameMap:
    """The name map of a model in Llama's layout; changes: entries that differ (None: removed); unread: patterns of
    tensors in files that are not used here."""
    table = {
        "embed_tokens": "embed",
        "layers.{}.input_layernorm": "layers.{}.norm1",
        **{f"layers.{{}}.self_attn.{x}_proj": f"layers.{{}}.attn.{x}_proj" for x in "qkvo"},
        "layers.{}.post_attention_layernorm": "layers.{}.norm2",
        "layers.{}.mlp.gate_proj": "layers.{}.ff.gate",
        "layers.{}.mlp.up_proj": "layers.{}.ff.up",
        "layers.{}.mlp.down_proj": "layers.{}.ff.down",
        "norm": "norm",
    } | (changes or {})
    return NameMap(
        {published: local for published, local in table.items() if local is not None},
        prefix="model.",
        heads={"lm_head": "lm_head", "score": "task_head.score", "qa_outputs": "task_head.qa_outputs"},
        other_prefixes=("transformer.",),
        tied={"lm_head.weight": "embed_tokens.weight"} if tied else {},
        constant=[r"layers\.\d+\.self_attn\.rotary_emb\.inv_freq", *unread],
        **more,
    )


HF, HF_TIED = llama_names(False), llama_names(True)
HF_HEADS = {
    "LlamaModel": None, "LlamaForCausalLM": "causal_lm", "LlamaForSequenceClassification": "sequence_classification",
    "LlamaForTokenClassification": "token_classification", "LlamaForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "hidden_size": "d_model", "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads", "num_key_value_heads": "n_kv_heads", "head_dim": "d_head",
    "intermediate_size": "d_ff", "max_position_embeddings": "max_length", "hidden_act": "activation",
    "attention_bias": "attn_bias", "mlp_bias": "ff_bias", "attention_dropout": "attn_dropout",
    "classifier_dropout": "head_dropout", "rms_norm_eps": "eps",
    "rope_theta": "rope_theta", "rope_scaling": "rope_scaling", "tie_word_embeddings": "tie_word_embeddings",
    "initializer_range": "init_std", "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id",
    "pad_token_id": "pad_token_id", **LABEL_FIELDS,
}  # fmt: skip
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = {"pretraining_tp", "is_decoder"}
from_hf_fields, to_hf_fields = read_rope, write_rope
