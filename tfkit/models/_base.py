"""The interface that all models share: outputs, heads, and errors that say what to do.

**What decoding relies on**, in every model with an encoder and a decoder:
`encode(input_ids, attention_mask)` -> `Output`, whose `rows(index)` repeats or selects sentences;
`model(attention_mask=…, decoder_input_ids=the new ones, encoder_outputs=…, cache=…, use_cache=True)` -> `Output` with
`logits` [B,T,V] and `cache`, which has `length` and `reorder(index)`. A cache is updated in place. A model that reads
audio instead of ids has `check_source(features)` -> the input of `encode`, [B,…]; it has no mask.
A decoder-only model has no `encode`, or the head "causal_lm", and reads `input_ids`; prompts padded on the left come
with `attention_mask` and, if the model takes them, `position_ids`. A model without `cache` reads the whole text at
every step. Optional: `shuffle(index, prefix_length)` of a cache, a reorder of rows that are equal up to
`prefix_length`; `crop(length)` of a cache, to take guesses back; `logits_to_keep` of a forward; `next_token_logits(ids,
mask)` -> logits [B,V], instead of a forward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._pytree import MappingKey, register_pytree_node
from typing_extensions import dataclass_transform

from ..objectives.chunked_cross_entropy import DeferredLogits

FIELDS = ("loss", "logits", "last_hidden_state", "encoder_last_hidden_state", "cache", "state")
ALIASES = {"past_key_values": "cache", "prediction_scores": "logits"}  # transformers' names -> ours
CACHES = ("cache", "past_key_values")
TRANSFORMERS_ARGUMENTS = frozenset(
    ("output_hidden_states", "output_attentions", "return_dict", "past_key_values", "inputs_embeds",
     "decoder_inputs_embeds")
)  # fmt: skip


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


COUNTS = {"n_layers": 0, "n_decoder_layers": 0, "n_types": 0, "n_random": 0}  # field -> the smallest allowed value
COUNTS |= dict.fromkeys(
    ("vocab_size", "max_length", "max_source_length", "n_mels", "n_heads", "n_decoder_heads", "n_groups", "num_labels"),
    1,
)


KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "int": ((int,), "a whole number"), "float": ((int, float), "a number"), "bool": ((bool,), "True or False"),
    "str": ((str,), "a name"),
}  # fmt: skip


def check_kind(field: Field[Any], value: Any) -> None:
    """Raises ValueError for None, or for a value of the wrong type, in a field that must be a number, a name, …"""
    kinds, *empty = getattr(field.type, "__name__", str(field.type)).split(" | ")
    if value is None:
        if kinds != "None" and not empty:
            raise ValueError(f"{field.name}=None: must not be None; leave it out for {field.default!r}")
    elif kinds in KINDS and empty in ([], ["None"]):
        wanted, words = KINDS[kinds]
        if not isinstance(value, wanted):
            raise ValueError(f"{field.name}={value!r}: must be {words}")


def check_sizes(config: Any) -> None:
    """Raises ValueError for an impossible value in a Config, such as a width below 1 or a share outside 0 to 1."""
    for field in fields(config):
        name, value = field.name, getattr(config, field.name)
        check_kind(field, value)
        if value is None:
            continue
        least = COUNTS.get(name, 1 if name.startswith("d_") else None)
        if least is not None and (type(value) is not int or value < least):
            raise ValueError(f"{name}={value!r}: must be a whole number, at least {least}")
        if ("dropout" in name or "layerdrop" in name) and not 0 <= value <= 1:
            raise ValueError(f"{name}={value!r}: must be between 0 and 1")
        if name == "eps" and not value >= 0:
            raise ValueError(f"eps={value!r}: must not be below 0")
        if name == "pad_token_id" and value < -1:
            raise ValueError(f"pad_token_id={value}: must be an id, at least 0, or None if there is no padding token")


class Output(dict[str, Any]):
    """A model's output: by name (`out.logits`, `out["logits"]`) and by index (`out[0]`, `out[1:]`).

    Fields that were not computed are absent, and None as attributes. The loss, if there is one, comes first.
    `past_key_values` is another name of `cache`, and `prediction_scores` of `logits`.
    """

    def __init__(self, *args: Any, **fields: Any) -> None:
        given = dict(*args, **fields)
        super().__init__({n: x for n, x in given.items() if not (x is None or isinstance(x, DeferredLogits))})

    def __getattr__(self, name: str) -> Any:
        name = ALIASES.get(name, name)
        if name in self or name in FIELDS:
            return self.get(name)
        raise AttributeError(f"this output has no {name!r}; it has {', '.join(self)}")

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(ALIASES.get(key, key)) if isinstance(key, str) else tuple(self.values())[key]

    def rows(self, index: torch.Tensor) -> Output:
        """The sentences `index` int64 [N], in this order: selects from the first dimension of every tensor."""
        return Output({k: v.index_select(0, index) if isinstance(v, torch.Tensor) else v for k, v in self.items()})


# torch.export and other code that maps over the tensors of a result sees these, not one opaque object
register_pytree_node(
    Output,
    lambda out: (list(out.values()), list(out)),
    lambda values, names: Output(zip(names, values, strict=True)),
    serialized_type_name=f"{Output.__module__}.Output",
    flatten_with_keys_fn=lambda out: ([(MappingKey(name), value) for name, value in out.items()], list(out)),
)


class Model(nn.Module):
    """The base class: a configuration, a head, and saving. Raises ValueError for a head that it does not have."""

    HEADS: ClassVar[tuple[str | None, ...]] = (None,)
    STATIC_CACHE: ClassVar[bool] = True  # whether its decoder, if any, supports a cache of fixed size
    NOT_COMPILABLE: ClassVar[str | None] = None  # the reason why a decoding step cannot be compiled, if there is one
    FLEX_ATTENTION: ClassVar[bool] = False  # whether it can give its layers the rules of `nn.flex` in place of masks
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

    def __call__(self, *args: Any, **given: Any) -> Any:
        """The forward pass, with the extra arguments of transformers' calls: `output_hidden_states`,
        `output_attentions` (without gradient), `return_dict=False` for a tuple, `past_key_values` for `cache`,
        `inputs_embeds` and `decoder_inputs_embeds` [B,L,E] for ids."""
        for name in CACHES:
            if (cache := given.get(name)) is not None and not hasattr(cache, "reorder"):
                raise TypeError(
                    f"{name} is of type {type(cache).__name__}: give a tfkit.nn.Cache, as a call with use_cache=True "
                    "returns it"
                )
        if TRANSFORMERS_ARGUMENTS.isdisjoint(given):
            return super().__call__(*args, **given)
        from ._transformers_arguments import call_with_transformers_arguments

        return call_with_transformers_arguments(self, super().__call__, args, given)

    @property
    def last_position(self) -> int | None:
        """The maximum length of the decoder's text; None: no position table limits it."""
        return getattr(self.config, "max_length", None)

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
        """The given targets, if the head accepts them all (`task_head`, see `_heads`). Raises TypeError that names
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


LABEL_FIELDS = {name: name for name in ("num_labels", "id2label", "label2id", "problem_type")}  # theirs -> ours
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


def check_memory(name: str, ids: torch.Tensor, memory: Any, width: int | None = None) -> torch.Tensor:
    """memory [N,S,E], the argument `name`, if it holds states of this `width`, in as many rows as ids [N,T]. Raises
    TypeError or ValueError, in one line that describes it."""
    require_tensor(name, memory)
    if memory.dim() != 3 or not memory.is_floating_point():
        raise ValueError(f"{name} must be states [B,S,E]; got {memory.dtype} {list(memory.shape)}")
    if width is not None and memory.size(-1) != width:
        raise ValueError(f"{name} has shape {list(memory.shape)}: this model's states have width {width}")
    check_rows(ids, memory)
    return memory


def check_rows(ids: torch.Tensor, memory: torch.Tensor) -> None:
    """Raises ValueError unless ids [N,T] and memory [N,S,E] have as many rows."""
    if ids.size(0) != memory.size(0):
        raise ValueError(f"decoder_input_ids has {ids.size(0)} rows, the encoder's output has {memory.size(0)}")


def check_max_length(config: Any, name: str, ids: torch.Tensor, past: int | torch.Tensor = 0) -> None:
    """Raises ValueError if ids [B,L] after `past` others go beyond the last position. While a graph is compiled,
    tensors have no values and nothing is raised: `decode.compiled` checks beforehand."""
    end = past + ids.size(1)
    if not (isinstance(end, torch.Tensor) and torch.compiler.is_compiling()) and end > config.max_length:
        raise ValueError(f"{name} reaches position {int(end)}, max_length is {config.max_length}")


def check_ids(name: str, ids: torch.Tensor | None) -> torch.Tensor:
    """ids, if they are integers [B,L]; otherwise raises an error that describes them in one line."""
    if ids is None:
        raise ValueError(f"{name} is missing")
    require_tensor(name, ids)
    if ids.is_floating_point() or ids.dtype == torch.bool or ids.dim() != 2:
        raise ValueError(f"{name} must be integers [B,L]; got {ids.dtype} {list(ids.shape)}")
    if ids.size(1) == 0:
        raise ValueError(f"{name} has shape {list(ids.shape)}: each row needs at least one id")
    return ids


def embed_ids(table: Any, ids: Any, name: str) -> torch.Tensor:
    """Rows of an embedding. The cause is searched only after a failed look-up (on a GPU the look-up itself asserts)."""
    try:
        return table(ids)
    except IndexError:
        worst = ids.max().item() if ids.max() >= table.num_embeddings else ids.min().item()
    raise ValueError(f"{name} holds {worst}, outside its table: ids go from 0 to {table.num_embeddings - 1}")


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


def require_tensor(name: str, given: Any) -> None:
    """Raises TypeError for a list or an array."""
    if not isinstance(given, torch.Tensor):
        kind = type(given).__name__
        article = "an" if kind[0] in "aeiou" else "a"
        raise TypeError(f"{name} is {article} {kind}: give a tensor, torch.as_tensor({name})")


def can_read_values(given: torch.Tensor) -> bool:
    """Whether a check may read values: on a GPU that would wait, and in a graph it is impossible."""
    return given.device.type == "cpu" and not torch.compiler.is_compiling()


def check_target(
    name: str, given: torch.Tensor, shape: Sequence[int], end: int | None, ignored: int | None = -100
) -> torch.Tensor:
    """The given tensor, if it has integers of that shape, from 0 to end - 1 (None: no limit), or `ignored`. Raises
    TypeError or ValueError, in one line that describes it."""
    require_tensor(name, given)
    if given.is_floating_point() or given.dtype == torch.bool:
        raise TypeError(f"{name} must be integers; got {given.dtype}")
    if tuple(given.shape) != tuple(shape):
        raise ValueError(f"{name} has shape {list(given.shape)}; expected {list(shape)}")
    if can_read_values(given):
        wrong = (given < 0) if end is None else (given < 0) | (given >= end)
        if ignored is not None:
            wrong &= given != ignored
        if bool(wrong.any()):
            limits = "it must be at least 0" if end is None else f"it goes from 0 to {end - 1}"
            raise ValueError(f"{name} holds {given[wrong][0].item()}: {limits}")
    return given


def check_probabilities(
    name: str, given: torch.Tensor, shape: Sequence[int], counted: torch.Tensor | None = None
) -> torch.Tensor:
    """The given tensor, if it has that shape and lies between 0 and 1 wherever `counted` bool is true. Raises TypeError
    or ValueError, in one line that describes it."""
    require_tensor(name, given)
    if tuple(given.shape) != tuple(shape):
        raise ValueError(f"{name} has shape {list(given.shape)}; expected {list(shape)}")
    if can_read_values(given):
        wrong = (given < 0) | (given > 1)
        wrong = wrong if counted is None else wrong & counted
        if bool(wrong.any()):
            raise ValueError(f"{name} holds {given[wrong][0].item()}: it may hold only 1 (yes) and 0 (no)")
    return given


def decoder_ids(config: Any, decoder_input_ids: torch.Tensor | None, labels: torch.Tensor | None) -> torch.Tensor:
    """The decoder's input: the given ids, or the labels shifted right (-100 becomes padding)."""
    if decoder_input_ids is not None:
        return check_ids("decoder_input_ids", decoder_input_ids)
    if labels is None:
        raise ValueError("pass decoder_input_ids, or labels to make them from")
    labels = check_ids("labels", labels)
    shifted = labels.masked_fill(labels == -100, config.pad_token_id)[:, :-1]
    return F.pad(shifted, (1, 0), value=config.decoder_start_token_id)
