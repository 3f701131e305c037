"""The interface that all models share: configuration, output, heads, and how an encoder is called.

A head is created from a configuration and called with the states and the targets of its task; it returns fields of an
`Output`. NEEDS_POOLER: whether it reads the first position through the pooler. TARGETS: the labels that it accepts. The
model gives `embed.tokens`, the table of tokens, `task_head`, the head, and `pooler` or None: see `add_head`. The heads
here are the language models'; those of tasks are in `_task_heads`, and checks of what a model is given in `_checks`.

**What decoding relies on**, in every model with an encoder and a decoder:
`encode(input_ids, attention_mask)` -> `Output`, whose `rows(index)` repeats or selects sentences;
`model(attention_mask=…, decoder_input_ids=the new ones, encoder_outputs=…, cache=…, use_cache=True)` -> `Output` with
`logits` [B,T,V] and `cache`, which has `length` and `reorder(index)`. A cache is updated in place. A model that reads
audio instead of ids has `check_source(features)` -> the input of `encode`, [B,…]; it has no mask.
A decoder-only model has no `encode`, or the head "causal_lm", and reads `input_ids`; prompts padded on the left come
with `attention_mask` and, if the model takes them, `position_ids`. A model without `cache` reads the whole text at
every step. Optional: `shuffle(index, prefix_length)` of a cache, a reorder of rows that are equal up to
`prefix_length`; `crop(length)` of a cache, to remove rejected draft tokens; `logits_to_keep` of a forward;
`next_token_logits(ids, mask)` -> logits [B,V], instead of a forward.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

import torch
from torch import Tensor, nn
from typing_extensions import dataclass_transform

from .. import tracing
from ..nn import Cache, Dropout, StaticCache
from ..nn.cache import LeftPaddedCache
from ..nn.feed_forward import get_activation
from ..objectives.cross_entropy import cross_entropy, next_labels, word_scores
from ._checks import can_read_values, check_ids, check_positions, check_sizes, require_tensor
from ._output import Output
from ._transformers_arguments import call_with_transformers_arguments
from ._vocabulary import input_table, output_table, resize, set_input_table

ConfigT = TypeVar("ConfigT")
CACHES = ("cache", "past_key_values", "cache_params")  # the last one: of state space models
OUTPUT_FLAGS = ("output_hidden_states", "output_attentions")
TRANSFORMERS_ARGUMENTS = frozenset(
    (*OUTPUT_FLAGS, "return_dict", "past_key_values", "cache_params", "inputs_embeds", "decoder_inputs_embeds")
)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def configuration(cls: type) -> type:
    """A frozen dataclass with keyword arguments. Attributes that are not fields can still be set: transformers'
    Trainer, which can train these models unchanged, writes `use_cache` on a model's configuration."""
    made: Any = dataclass(frozen=True, kw_only=True)(cls)
    names, refuse = {field.name for field in fields(made)}, made.__setattr__

    def write(self: Any, name: str, value: Any) -> None:
        if name in names:
            refuse(self, name, value)
        object.__setattr__(self, name, value)

    made.__setattr__ = write
    return made


def replace_fields(config: ConfigT, **changes: Any) -> ConfigT:
    """As `dataclasses.replace`, but what the configuration keeps of its config.json beside the fields stays."""
    changed: Any = replace(cast(Any, config), **changes)
    changed.published = getattr(config, "published", {})
    return cast(ConfigT, changed)


class Model(nn.Module):
    """The base class: a configuration, a head, and saving. Raises ValueError for a head that it does not have."""

    HEADS: ClassVar[tuple[str | None, ...]] = (None,)
    MASKS_PROMPT_ONLY: ClassVar[bool] = False  # whether the steps after a padded prompt need no mask of it
    FLEX_ATTENTION: ClassVar[bool] = False  # whether it can give its layers the rules of `nn.flex` in place of masks
    NEEDED_IDS: ClassVar[tuple[str, ...]] = ("pad_token_id",)  # fields of tokens that no change of size may cut off
    PADDING_ROW: ClassVar[bool] = False  # whether the padding token has a row of its own in the token embeddings
    task_head: Any  # the head's own layers, if any
    pooler: Any  # an encoder's pooler: the layer between the first position and the head
    # read by transformers' Trainer: losses here are means, without an argument for the number of items
    accepts_loss_kwargs = False
    attn_implementation = "sdpa"  # see `set_attn_implementation`

    def __init__(self, config: Any, head: str | None = None) -> None:
        super().__init__()
        if head not in self.HEADS:
            heads = ", ".join(map(repr, self.HEADS))
            raise ValueError(f"{type(self).__name__} has no head {head!r}; available: {heads}")
        check_sizes(config)
        pad, size = getattr(config, "pad_token_id", None), getattr(config, "vocab_size", None)
        if self.PADDING_ROW and pad is not None and size is not None and pad >= size:
            raise ValueError(f"pad_token_id={pad}: outside the vocabulary, whose ids go from 0 to {size - 1}")
        self.config, self.head = config, head
        self.generation_config: dict[str, Any] = {}  # defaults of `generate`: see `decode.settings`
        given = getattr(config, "published", {})
        self.default_outputs = {name: True for name in OUTPUT_FLAGS if given.get(name)}  # of calls, from config.json

    def __call__(self, *args: Any, **given: Any) -> Any:
        """The forward pass, with the extra arguments of transformers' calls: `output_hidden_states`,
        `output_attentions` (without gradient), both by default as `default_outputs` says; `return_dict=False` for a
        tuple, `past_key_values` or `cache_params` for `cache`, `inputs_embeds` and `decoder_inputs_embeds` [B,L,E] for
        ids."""
        for name in CACHES:
            if (cache := given.get(name)) is not None and not hasattr(cache, "reorder"):
                raise TypeError(
                    f"{name} is of type {type(cache).__name__}: give a tfkit.nn.Cache, as a call with use_cache=True "
                    "returns it"
                )
        if self.default_outputs and not (torch.compiler.is_compiling() or tracing.is_observed()):
            given = self.default_outputs | {name: x for name, x in given.items() if x is not None}
        if TRANSFORMERS_ARGUMENTS.isdisjoint(given):
            return super().__call__(*args, **given)
        return call_with_transformers_arguments(self, super().__call__, args, given)

    def fixed_cache(self, capacity: int, non_padding: Tensor | None) -> Any:
        """An empty cache of fixed size for `capacity` positions, as a compiled step needs. non_padding bool
        [B,capacity]: the mask of prompts that are padded on the left, which the cache applies if the model needs it;
        None: no padding."""
        if non_padding is None or self.MASKS_PROMPT_ONLY:
            return StaticCache(capacity)
        return LeftPaddedCache(capacity, non_padding)

    def prepare_steps(self) -> bool:
        """Called before compiled steps of decoding -> whether they never wait for a GPU, as a CUDA graph requires"""
        return True

    @property
    def heads_of_this_body(self) -> Sequence[str | None]:
        """The heads under which the model has all layers that it has under this one, beside the head's own."""
        return self.HEADS

    @property
    def last_position(self) -> int | None:
        """The maximum length of the decoder's text; None: no position table limits it."""
        return getattr(self.config, "max_length", None)

    @property
    def position_limit(self) -> int | None:
        """The most tokens that a text of the decoder may have; None: any number, as with rotary positions."""
        return self.last_position

    def set_attn_implementation(self, name: str) -> None:
        """Choose what computes attention: "sdpa", PyTorch's fused kernels with the model's masks, the default; or
        "flex_attention", FlexAttention with block masks, which computes no block of scores that is hidden and holds no
        table of masks or biases. Where that cannot compute the result (see `nn.flex.is_chosen`), the fused kernels do;
        the result is the same. Raises ValueError for another name, or a model whose attention has no such rules."""
        if name not in ("sdpa", "flex_attention"):
            raise ValueError(f"attn_implementation={name!r}: there is 'sdpa', the default, and 'flex_attention'")
        if name == "flex_attention" and not self.FLEX_ATTENTION:
            raise ValueError(
                f"attn_implementation={name!r}: {type(self).__name__} supports only 'sdpa'; FlexAttention needs models "
                "with windows, sparse blocks, sinks, soft caps, or biases by position"
            )
        self.attn_implementation = name

    def save_pretrained(self, directory: str | Path, **how: Any) -> None:
        """Write config.json and model.safetensors; `tfkit.from_pretrained` reads them. how: `max_shard_size`, "5GB"."""
        from ..hub import save_pretrained

        save_pretrained(self, directory, **how)

    def generate(self, input_ids: Any = None, strategy: Any = None, **settings: Any) -> Any:
        """The continuation of each sentence, ids [B·R,T]: see `tfkit.generate`, which takes the same arguments."""
        from .. import generate

        return generate(self, input_ids, strategy, **settings)

    @property
    def device(self) -> torch.device:
        """The device of the weights; of the first of them, if they are on several."""
        return next(self.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights; of the first of them with a fraction, if they have several."""
        return next(weight.dtype for weight in self.parameters() if weight.is_floating_point())

    def num_parameters(self, only_trainable: bool = False, exclude_embeddings: bool = False) -> int:
        """How many numbers the parameters hold, shared ones counted once. exclude_embeddings: without tables of tokens,
        positions and types."""
        tables = {id(m.weight) for m in self.modules() if isinstance(m, nn.Embedding)} if exclude_embeddings else ()
        counted = (p for p in self.parameters() if id(p) not in tables)
        return sum(p.numel() for p in counted if p.requires_grad or not only_trainable)

    def get_input_embeddings(self) -> nn.Module:
        """The module that looks up tokens; in an encoder-decoder the encoder's, or the one that both share."""
        return input_table(self)[1]

    def set_input_embeddings(self, value: nn.Module) -> None:
        """Replaces that module by another nn.Embedding of the same width; a tied head follows."""
        set_input_table(self, value)

    def get_output_embeddings(self) -> nn.Module | None:
        """The module whose `weight` [V,E] is the output matrix: the input embeddings, if it is tied to them; None for a
        head that scores no words."""
        return output_table(self)

    def resize_token_embeddings(self, new_num_tokens: int | None = None, *, mean_resizing: bool = True) -> nn.Module:
        """Changes the number of tokens, in all tables and biases over the vocabulary and in the configuration ->
        the input embeddings. New rows are the mean of the others, or with mean_resizing=False drawn around zero. None
        and the present number change nothing. Raises TypeError or ValueError, before anything is changed, for a size
        that cannot be, and for a model with several vocabularies."""
        return resize(self, new_num_tokens, mean_resizing)

    def require_head(self, labels: torch.Tensor | None) -> None:
        """Raises ValueError for labels given to a model without a head, which has no loss."""
        if labels is not None and self.head is None:
            heads = ", ".join(repr(head) for head in self.HEADS if head)
            raise ValueError(f"labels were passed to a model without a head: create it with head={heads}")

    def untie(self, table: nn.Embedding) -> None:
        """Give the model a separate output matrix `output`, for tie_word_embeddings=False."""
        self.output = nn.Linear(table.embedding_dim, table.num_embeddings, bias=False)

    def output_matrix(self, table: nn.Embedding) -> torch.Tensor:
        """The output matrix [V,E]: the embeddings, or the separate matrix."""
        own = getattr(self, "output", None)
        return table.weight if own is None else own.weight

    def check_targets(self, targets: dict[str, Any]) -> dict[str, Tensor]:
        """The given targets, if the head accepts them all (`task_head`, see `Head`). Raises TypeError that names
        another one."""
        found = {name: target for name, target in targets.items() if target is not None}
        self.require_head(found.get("labels"))
        if "labels" in found:
            require_tensor("labels", found["labels"])
        targets_of_head = getattr(getattr(self, "task_head", None), "TARGETS", ("labels",))
        if unknown := sorted(found.keys() - set(targets_of_head)):
            takes = ", ".join(targets_of_head) or "none"
            raise TypeError(f"{', '.join(unknown)}: not a target of head {self.head!r}, which takes {takes}")
        return found


@configuration
class TaskConfig:
    """The fields of a Config that concern a task's labels and the output matrix."""

    num_labels: int = 2  # as many as id2label has, if that is given
    id2label: dict[str, Any] | None = None
    label2id: dict[str, Any] | None = None
    problem_type: str | None = None
    tie_word_embeddings: bool = True  # whether the embeddings are also the output matrix of heads that have one

    def __post_init__(self) -> None:
        if self.id2label:
            object.__setattr__(self, "num_labels", len(self.id2label))


LABEL_FIELDS = {name: name for name in ("num_labels", "id2label", "label2id", "problem_type")}  # published -> local
TIED_FIELDS = {"tie_word_embeddings": "tie_word_embeddings"}


@torch.no_grad()
def normal_init(module: nn.Module, std: float = 0.02) -> None:
    """The usual initialisation: normal weights, zero biases, and zero for the padding row of a table."""
    if isinstance(module, (nn.Linear, nn.Embedding, nn.Conv1d)):
        nn.init.normal_(module.weight, std=std)
    if isinstance(module, (nn.Linear, nn.Conv1d)) and module.bias is not None:
        nn.init.zeros_(module.bias)
    if isinstance(module, nn.Embedding) and module.padding_idx is not None:
        module.weight[module.padding_idx].zero_()


class HeadInputs(NamedTuple):
    """states [B,L,E]; pooled [B,E] or None; table [V,E], the embeddings; mask bool [B,L] or None; choices per
    question."""

    states: torch.Tensor
    pooled: Any
    table: torch.Tensor
    mask: torch.Tensor | None
    choices: int


class Head(nn.Module):
    NEEDS_POOLER: ClassVar[bool] = False
    HAS_OUTPUT_MATRIX: ClassVar[bool] = False  # whether it has an output matrix, `HeadInputs.table`
    TARGETS: ClassVar[tuple[str, ...]] = ("labels",)

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.drop = Dropout(c.dropout if c.head_dropout is None else c.head_dropout)


class NoHead(Head):
    """No head: the states alone."""

    TARGETS = ()

    def forward(self, inputs: HeadInputs) -> dict[str, Any]:
        return {"last_hidden_state": inputs.states, "pooler_output": inputs.pooled}


class NoHeadWithPooler(NoHead):
    """No head, but the pooled first position in addition to the states."""

    NEEDS_POOLER = True


class WordHead(Head, ABC):
    """A score for every word of the vocabulary at every position, computed by the subclasses' `scores`."""

    HAS_OUTPUT_MATRIX = True

    @abstractmethod
    def scores(self, inputs: HeadInputs) -> torch.Tensor:
        """-> [B,L,V]"""

    def targets(self, labels: torch.Tensor) -> torch.Tensor:
        """The target of each position, from labels [B,L]: the label at that position"""
        return labels

    def forward(self, inputs: HeadInputs, labels: torch.Tensor | None = None) -> dict[str, Any]:
        """labels [B,L] (-100: not counted) -> loss, logits [B,L,V], last_hidden_state [B,L,E]"""
        logits = self.scores(inputs)
        loss = None if labels is None else cross_entropy(logits, self.targets(labels))
        return {"loss": loss, "logits": logits, "last_hidden_state": inputs.states}


class MaskedLMHead(WordHead):
    """Predicts masked tokens: a layer, then the embeddings themselves as the output matrix."""

    def __init__(self, c: Any, width: int | None = None, activation_name: str | None = None) -> None:
        super().__init__(c)
        width = width or c.d_model  # of the embeddings, if they differ from the states in width
        self.dense, self.norm = nn.Linear(c.d_model, width), nn.LayerNorm(width, c.eps)
        self.bias = nn.Parameter(torch.zeros(c.vocab_size))
        self.activation = get_activation(activation_name or c.activation)

    def scores(self, inputs: HeadInputs) -> Tensor:
        return word_scores(self.norm(self.activation(self.dense(inputs.states))), inputs.table, self.bias)  # [B,L,V]


class TiedLM(WordHead):
    """Predicts tokens with the embeddings as the output matrix, directly on the states, and a bias."""

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.bias = nn.Parameter(torch.zeros(c.vocab_size))

    def scores(self, inputs: HeadInputs) -> Tensor:
        return word_scores(inputs.states, inputs.table, self.bias)


class ShiftedLabels(WordHead):
    """A mixin, placed before a masked language model's head, that makes it predict the next token."""

    def targets(self, labels: torch.Tensor) -> torch.Tensor:
        return next_labels(labels)


class CausalLMHead(ShiftedLabels, MaskedLMHead):
    """Predicts the next token with the same layers, for a causal model."""


def to_bool_mask(name: str, mask: torch.Tensor | None, shape: Sequence[int | Tensor]) -> torch.Tensor | None:
    """A user's mask of ones and zeros, bool or integer, [B,L] -> bool [B,L]; None, no padding, stays None."""
    if mask is None:
        return None
    require_tensor(name, mask)
    if mask.is_floating_point():
        raise TypeError(f"{name} is {mask.dtype}: give bool or integers, 1 = a real token, 0 = padding")
    if tuple(mask.shape) != tuple(shape):
        raise ValueError(f"{name} has shape {list(mask.shape)}, its tokens have {list(shape)}")
    non_padding = mask.bool()
    if mask.dtype != torch.bool and can_read_values(mask) and bool((mask != non_padding).any()):
        raise ValueError(f"{name} holds {mask[mask != non_padding][0].item()}: 1 = a real token, 0 = padding")
    return non_padding


def to_padding_mask(name: str, mask: torch.Tensor | None, shape: Sequence[int | Tensor]) -> torch.Tensor | None:
    """As `to_bool_mask`; also None if nothing is masked and checking costs no wait, as attention is faster without a
    mask."""
    non_padding = to_bool_mask(name, mask, shape)
    return None if non_padding is None or (can_read_values(non_padding) and bool(non_padding.all())) else non_padding


@dataclass(frozen=True)
class EncoderInputs:
    """ids [B,L]; types, position_ids, and extra inputs by name, as given or None; mask bool [B,K], of some models
    [B,L,K], or None; targets: of the head; choices: the number of rows of ids per question."""

    ids: Tensor
    types: Tensor | None
    position_ids: Tensor | None
    extra: dict[str, Tensor | None]
    mask: Tensor | None
    targets: dict[str, Tensor]
    choices: int


def encoder_inputs(
    model: Any,
    input_ids: Tensor | None,
    attention_mask: Tensor | None,
    token_type_ids: Tensor | None,
    position_ids: Tensor | None,
    targets: Mapping[str, Tensor | None],
    *,
    extra: Mapping[str, Tensor | None] | None = None,
    past: int | Tensor = 0,
    pairs: bool = False,
) -> EncoderInputs:
    """Checks the inputs; for multiple choice [B,C,L] becomes rows [B·C,L]. extra: further inputs of that shape; past:
    the number of positions in a cache, which the mask also covers; pairs: whether the mask may also be [B,L,K], with
    the keys that each query sees. Raises ValueError or TypeError for invalid inputs."""
    known, choices = model.check_targets(dict(targets)), 1
    given = {"input_ids": input_ids, "types": token_type_ids, "position_ids": position_ids, **(extra or {})}
    if model.head == "multiple_choice":
        choices, given, attention_mask = flatten_choices(given, attention_mask)
    ids = check_ids("input_ids", given.pop("input_ids"))
    types, position_ids = given.pop("types"), given.pop("position_ids")
    if types is not None and types.shape != ids.shape:
        raise ValueError(f"token_type_ids has shape {list(types.shape)}, input_ids has {list(ids.shape)}")
    if types is not None:
        check_ids("token_type_ids", types)
    if position_ids is not None:
        check_positions(position_ids, ids)
    of_pairs = pairs and isinstance(attention_mask, Tensor) and attention_mask.dim() == 3
    covered = (ids.size(0), *([ids.size(1)] if of_pairs else []), past + ids.size(1))
    mask = to_padding_mask("attention_mask", attention_mask, covered)
    return EncoderInputs(ids, types, position_ids, given, mask, known, choices)


def flatten_choices(given: dict[str, Any], mask: Tensor | None) -> tuple[int, dict[str, Any], Tensor | None]:
    """Tensors [B,C,L] as [B*C,L], so that every choice is a row of its own -> choices, tensors, mask"""
    ids = given["input_ids"]
    if ids is None or ids.dim() != 3:
        shape = None if ids is None else list(ids.shape)
        raise ValueError(
            f"input_ids must be integers [B,C,L] for multiple choice; got {shape}: the C choices of each of B examples "
            "have an axis of their own, as after input_ids.view(B, C, L)"
        )
    flat = {name: t if t is None else t.flatten(0, 1) for name, t in given.items()}
    return ids.size(1), flat, mask if mask is None else mask.flatten(0, 1)


def add_head(model: Any, head_classes: Mapping[str | None, type[Head]]) -> None:
    """Adds the head to the model, with the pooler and the separate output matrix if the head needs them."""
    c = model.config
    model.task_head = head_classes[model.head](c)
    model.pooler = nn.Linear(c.d_model, c.d_model) if model.task_head.NEEDS_POOLER else None
    if model.task_head.HAS_OUTPUT_MATRIX and not c.tie_word_embeddings:
        model.untie(model.embed.tokens)


def with_head(model: Any, inputs: EncoderInputs, x: Tensor, cache: Cache | None = None) -> Output:
    """The head's output for the states x [B,L,E]."""
    pooled = None if model.pooler is None else torch.tanh(model.pooler(x[:, 0]))  # [B,E]
    mask = None if inputs.mask is None or inputs.mask.dim() == 3 else inputs.mask  # of pairs: it names no padding
    head_inputs = HeadInputs(x, pooled, model.output_matrix(model.embed.tokens), mask, inputs.choices)
    return Output(model.task_head(head_inputs, **inputs.targets), cache=cache)
