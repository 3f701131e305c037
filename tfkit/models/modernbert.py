"""ModernBERT (Warner et al. 2024, arXiv:2412.13663): BERT's task, with the improvements of later decoders.

Parent   bert (by idea)
Differs  rotary positions (RoPE) instead of a table, for texts of up to 8192 tokens; two layers in three have
         local attention over a window of 128; pre-norm, almost no biases; a feed-forward network gated by GELU (GeGLU)
Trained  objectives.masked_lm on 2 trillion tokens; no next sentence
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..namemap import FusedTensors, NameMap
from ..nn import Dropout, flex
from ..nn.feed_forward import GatedFeedForward, get_activation
from ..nn.grouped_query import GroupedQueryAttention, Rotation
from ..nn.rope import rope_frequencies, rope_rotation
from ..objectives.cross_entropy import cross_entropy, word_scores
from . import _base, bert
from . import _task_heads as task_heads
from ._base import LABEL_FIELDS, TIED_FIELDS, Model, TaskConfig, add_head, configuration, encoder_inputs, with_head
from ._checks import check_layer_types, check_rotary_width, embed_ids
from ._output import Output
from ._rope import read_rope
from .llama import FULL, SLIDING


@configuration
class Config(TaskConfig):
    vocab_size: int = 50368
    d_model: int = 768
    n_layers: int = 22
    n_heads: int = 12
    d_ff: int = 1152
    max_length: int = 8192  # of the texts in training; no position table ends there
    activation: str = "gelu"
    window: int = 128  # left and right together, in the layers with a window
    period: int = 3  # one layer in every `period`, starting with the first, has full attention
    layer_types: list[Any] | tuple[Any, ...] | None = None  # default: by `period`
    rope_theta: float = 160000.0
    rope_scaling: dict[str, Any] | None = None
    local_rope_theta: float = 10000.0  # of the layers with a window
    local_rope_scaling: dict[str, Any] | None = None
    attn_bias: bool = False
    ff_bias: bool = False
    norm_bias: bool = False
    logits_bias: bool = True
    dropout: float = 0.0  # of the embeddings
    attn_dropout: float = 0.0  # of the attention weights, and after attention
    ff_dropout: float = 0.0
    head_dropout: float | None = 0.0
    head_bias: bool = False
    head_activation: str = "gelu"
    pooling: str = "cls"  # or "mean": the input of a classifier of whole texts
    sparse: bool = False  # whether to compute logits only at labels, [N,V]
    eps: float = 1e-5
    bos_token_id: int | None = 50281
    eos_token_id: int | list[int] | None = 50282
    pad_token_id: int | None = 50283


PRESETS: dict[str, dict[str, Any]] = {
    "modernbert-base": {}, "modernbert-large": {"d_model": 1024, "n_layers": 28, "n_heads": 16, "d_ff": 2624},
}  # fmt: skip
INIT_STD, CUTOFF = 0.02, 2.0


def layer_norm(c: Config) -> nn.LayerNorm:
    return nn.LayerNorm(c.d_model, c.eps, bias=c.norm_bias)


class Embeddings(nn.Module):
    """Token embeddings without positions, then a norm."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.norm, self.drop = layer_norm(c), Dropout(c.dropout)

    def forward(self, ids: Tensor) -> Tensor:
        """ids [B,L] -> [B,L,E]"""
        return self.drop(self.norm(embed_ids(self.tokens, ids, "input_ids")))


class Layer(nn.Module):
    def __init__(self, c: Config, index: int) -> None:
        super().__init__()
        self.norm1 = layer_norm(c) if index else nn.Identity()  # the input of the first layer is already normalised
        self.attn = GroupedQueryAttention(
            c.d_model, c.n_heads, bias=c.attn_bias, out_bias=c.attn_bias, dropout=c.attn_dropout, causal=False
        )
        self.drop = Dropout(c.attn_dropout)
        self.norm2 = layer_norm(c)
        self.ff = GatedFeedForward(c.d_model, c.d_ff, get_activation(c.activation), c.ff_bias, c.ff_dropout)

    def forward(self, x: Tensor, rotation: Rotation, mask: Tensor | None) -> Tensor:
        """x [B,L,E], mask bool, broadcastable to [B,H,L,L] -> [B,L,E]"""
        x = x + self.drop(self.attn(self.norm1(x), rotation, mask=mask))
        return x + self.ff(self.norm2(x))


class Head(_base.Head):
    """A layer and a norm, which all tasks share. Raises ValueError for an unknown pooling."""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        if c.pooling not in ("cls", "mean"):
            raise ValueError(f"pooling is {c.pooling!r}; it must be 'cls' or 'mean'")
        self.dense = nn.Linear(c.d_model, c.d_model, bias=c.head_bias)
        self.norm, self.activation = layer_norm(c), get_activation(c.head_activation)
        self.pooling, self.problem = c.pooling, c.problem_type

    def transform(self, states: Tensor) -> Tensor:
        """[...,E] -> [...,E]"""
        return self.norm(self.activation(self.dense(states)))

    def pool(self, inputs: _base.HeadInputs) -> Tensor:
        """-> [B,E]: the first position, or the mean over all tokens that are not padding"""
        if self.pooling == "cls":
            return self.transform(inputs.states[:, 0])
        if inputs.mask is None:
            return self.transform(inputs.states.mean(1))
        non_padding = inputs.mask[..., None].to(inputs.states.dtype)
        return self.transform((inputs.states * non_padding).sum(1) / non_padding.sum(1))


class MaskedLMHead(Head):
    """Predicts masked tokens."""

    HAS_OUTPUT_MATRIX = True

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.bias = nn.Parameter(torch.zeros(c.vocab_size)) if c.logits_bias else None
        self.sparse = c.sparse

    def forward(self, inputs: _base.HeadInputs, labels: Tensor | None = None) -> dict[str, Any]:
        states = inputs.states
        if self.sparse and labels is not None:
            states, labels = states[labels != -100], labels[labels != -100]  # [N,E], [N]
        logits = word_scores(self.transform(states), inputs.table, self.bias)
        loss = None if labels is None else cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits, "last_hidden_state": inputs.states}


class SequenceClassificationHead(Head):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.classifier = nn.Linear(c.d_model, c.num_labels)

    def forward(self, inputs: _base.HeadInputs, labels: Tensor | None = None) -> dict[str, Any]:
        logits = self.classifier(self.drop(self.pool(inputs)))  # [B,N]
        return {
            "loss": None if labels is None else task_heads.label_loss(logits, labels, self.problem),
            "logits": logits,
        }


class TokenClassificationHead(SequenceClassificationHead):
    def forward(self, inputs: _base.HeadInputs, labels: Tensor | None = None) -> dict[str, Any]:
        logits = self.classifier(self.drop(self.transform(inputs.states)))  # [B,L,N]
        return {"loss": None if labels is None else cross_entropy(logits, labels), "logits": logits}


class QuestionAnsweringHead(Head, task_heads.SpanHead):
    """Predicts where the answer starts and ends."""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.classifier = nn.Linear(c.d_model, 2)

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return self.classifier(self.drop(self.transform(inputs.states)))  # [B,L,2]


class MultipleChoiceHead(Head, task_heads.ChoiceHead):
    """Chooses one of several continuations. Its first position is the first one that is not padding."""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.classifier = nn.Linear(c.d_model, 1)

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        pooled = self.pool(inputs)
        if self.pooling == "cls" and inputs.mask is not None:
            first = inputs.mask.long().argmax(-1)
            pooled = self.transform(inputs.states[torch.arange(len(first), device=first.device), first])
        return self.classifier(self.drop(pooled))


class ModernBERT(Model):
    HEAD_CLASSES = {
        None: _base.NoHead, "masked_lm": MaskedLMHead, "sequence_classification": SequenceClassificationHead,
        "token_classification": TokenClassificationHead, "question_answering": QuestionAnsweringHead,
        "multiple_choice": MultipleChoiceHead,
    }  # fmt: skip
    PADDING_ROW = True
    FLEX_ATTENTION = True
    HEADS = tuple(HEAD_CLASSES)

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        width = config.d_model // config.n_heads
        check_rotary_width("d_model / n_heads", width, width)
        check_layer_types(self.layer_types(), (FULL, SLIDING), config)
        self.embed = Embeddings(config)
        self.layers = nn.ModuleList(Layer(config, index) for index in range(config.n_layers))
        add_head(self, self.HEAD_CLASSES)
        self.norm = layer_norm(config)
        self.apply(self.init_weights)

    @torch.no_grad()
    def init_weights(self, module: nn.Module) -> None:
        """Initialises the weights: truncated normal; projections into the residual stream are smaller in deeper
        models."""
        smaller = INIT_STD * (2 * self.config.n_layers or 1) ** -0.5
        if isinstance(module, (nn.Linear, nn.Embedding)):
            draw(module, INIT_STD)
        if isinstance(module, Layer):
            draw(module.attn.o_proj, smaller)
            draw(module.ff.down, smaller)
        if isinstance(module, Head):
            draw(module.dense, smaller)
        if hasattr(module, "classifier"):
            draw(module.classifier, self.config.d_model**-0.5)

    def layer_types(self) -> list[str]:
        """The attention of each layer: full, or within a window."""
        c = self.config
        if c.layer_types is not None:
            return list(c.layer_types)
        return [SLIDING if index % c.period else FULL for index in range(c.n_layers)]

    def rotation(self, kind: str, positions: Tensor, length: int, dtype: torch.dtype) -> Rotation:
        """cos and sin [B or 1,1,L,R] for the layers of a kind"""
        c, far = self.config, kind == FULL
        base, scaling = (c.rope_theta, c.rope_scaling) if far else (c.local_rope_theta, c.local_rope_scaling)
        frequencies, factor = rope_frequencies(
            c.d_model // c.n_heads, base, scaling, length=length, max_length=c.max_length, dtype=dtype,
            device=positions.device,
        )  # fmt: skip
        return rope_rotation(positions, frequencies, factor, dtype)

    def window_mask(self, mask: Tensor | None, length: int, device: torch.device) -> Tensor | None:
        """mask bool [B,1,1,L] or None -> the mask of the layers with a window, half of it on each side"""
        if length <= self.config.window // 2 + 1:
            return mask
        at = torch.arange(length, device=device)
        near = (at[:, None] - at).abs() <= self.config.window // 2  # [L,L]
        return near if mask is None else mask & near

    def layer_masks(self, mask: Tensor | None, length: int, device: torch.device) -> dict[str, Any]:
        """mask bool [B,1,1,L] or None -> the mask of each kind of layer"""
        if flex.is_chosen(self, length, device, dropout=self.config.attn_dropout):
            full = flex.visible(None if mask is None else mask[:, 0, 0])
            return {FULL: full, SLIDING: full & flex.window(self.config.window // 2)}
        return {FULL: mask, SLIDING: self.window_mask(mask, length, device)}

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        **targets: Tensor | None,
    ) -> Output:
        """input_ids, attention_mask [B,L] ([B,C,L] for multiple choice); labels and targets depend on the head ->
        Output: loss, logits, or the head's other fields. token_type_ids are ignored, as in transformers: there is no
        table for them. Raises ValueError or TypeError for invalid inputs."""
        given = (input_ids, attention_mask, token_type_ids, position_ids)
        inputs = encoder_inputs(self, *given, {"labels": labels, **targets})
        return with_head(self, inputs, self.encode(inputs.ids, inputs.mask, inputs.position_ids))

    def encode(self, ids: Tensor, mask: Tensor | None, position_ids: Tensor | None) -> Tensor:
        """ids [B,L], mask bool [B,L] or None -> [B,L,E]"""
        mask, length = None if mask is None else mask[:, None, None], ids.size(1)
        x = self.embed(ids)
        positions = torch.arange(length, device=ids.device) if position_ids is None else position_ids
        kinds = self.layer_types()
        masks = self.layer_masks(mask, length, ids.device)
        rotations = {kind: self.rotation(kind, positions, length, x.dtype) for kind in set(kinds)}
        for layer, kind in zip(self.layers, kinds, strict=True):
            x = layer(x, rotations[kind], masks[kind])
        return self.norm(x)


def draw(module: Any, std: float) -> None:
    """Draws new weights, and sets biases to zero."""
    nn.init.trunc_normal_(module.weight, std=std, a=-CUTOFF * std, b=CUTOFF * std)
    if getattr(module, "bias", None) is not None:
        nn.init.zeros_(module.bias)


MODEL = ModernBERT
HF = NameMap(
    {
        "embeddings.tok_embeddings": "embed.tokens",
        "embeddings.norm": "embed.norm",
        "layers.{}.attn_norm": "layers.{}.norm1",
        "layers.{}.attn.Wqkv": FusedTensors(tuple(f"layers.{{}}.attn.{x}_proj" for x in "qkv")),
        "layers.{}.attn.Wo": "layers.{}.attn.o_proj",
        "layers.{}.mlp_norm": "layers.{}.norm2",
        "layers.{}.mlp.Wi": FusedTensors(("layers.{}.ff.gate", "layers.{}.ff.up")),
        "layers.{}.mlp.Wo": "layers.{}.ff.down",
        "final_norm": "norm",
    },
    prefix="model.",
    heads={
        "head.dense": "task_head.dense", "head.norm": "task_head.norm", "decoder.bias": "task_head.bias",
        "classifier": "task_head.classifier",
    },
    tied={"decoder.weight": "embeddings.tok_embeddings.weight"},
)  # fmt: skip
HF_HEADS = {
    "ModernBertModel": None, "ModernBertForMaskedLM": "masked_lm", **bert.task_classes("ModernBert"),
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "hidden_size": "d_model", "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads", "intermediate_size": "d_ff", "max_position_embeddings": "max_length",
    "hidden_activation": "activation", "local_attention": "window", "global_attn_every_n_layers": "period",
    "layer_types": "layer_types", "rope_theta": "rope_theta", "rope_scaling": "rope_scaling",
    "local_rope_theta": "local_rope_theta", "local_rope_scaling": "local_rope_scaling", "attention_bias": "attn_bias",
    "mlp_bias": "ff_bias", "norm_bias": "norm_bias", "decoder_bias": "logits_bias", "embedding_dropout": "dropout",
    "attention_dropout": "attn_dropout", "mlp_dropout": "ff_dropout", "classifier_dropout": "head_dropout",
    "classifier_bias": "head_bias", "classifier_activation": "head_activation", "classifier_pooling": "pooling",
    "sparse_prediction": "sparse", "norm_eps": "eps", "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id",
    "pad_token_id": "pad_token_id", **LABEL_FIELDS, **TIED_FIELDS,
}  # fmt: skip
HF_FIXED = {"sparse_pred_ignore_index": -100}
HF_UNUSED = {
    "initializer_range", "initializer_cutoff_factor", "deterministic_flash_attn", "reference_compile", "cls_token_id",
    "repad_logits_with_grad", "position_embedding_type", "layer_norm_eps",
}  # fmt: skip


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """4.x files have separate fields for the two rotary bases; 5.x files nest them by kind of layer."""
    config_dict = dict(config_dict)
    rope, old = config_dict.pop("rope_parameters", None) or {}, config_dict.pop("rope_scaling", None) or {}
    for kind, prefix, base in ((FULL, "", "global_rope_theta"), (SLIDING, "local_", "local_rope_theta")):
        default = getattr(Config(), f"{prefix}rope_theta")
        rope_fields = {"rope_theta": config_dict.pop(base, None) or default, **old, **(rope.get(kind) or {})}
        length = {name: config_dict[name] for name in ("max_position_embeddings",) if name in config_dict}
        found = read_rope({"rope_parameters": rope_fields, **length})
        config_dict |= {f"{prefix}{name}": found[name] for name in ("rope_theta", "rope_scaling")}
    return config_dict


def to_hf_fields(written: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `from_hf_fields`."""
    written = dict(written)
    rope = {}
    for kind, prefix in ((FULL, ""), (SLIDING, "local_")):
        scaling = written.pop(f"{prefix}rope_scaling") or {"rope_type": "default"}
        rope[kind] = {"rope_theta": written.pop(f"{prefix}rope_theta"), **scaling}
    return {**written, "rope_parameters": rope}
