"""Checks of what models are made of and called with: errors that say in one line what was wrong and what to give.

They may be skipped by whoever reads how a model computes: where nothing is wrong, they return what they were given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any

import torch
from torch import Tensor

# field -> the smallest allowed value
COUNTS = {"n_layers": 0, "n_decoder_layers": 0, "n_image_layers": 0, "n_types": 0, "n_random": 0}
COUNTS |= dict.fromkeys(
    ("vocab_size", "max_length", "max_source_length", "n_mels", "n_heads", "n_decoder_heads", "n_groups", "num_labels",
     "period", "n_image_heads", "n_channels", "n_key_heads", "n_value_heads", "kernel", "attention_interval",
     "expert_interval"), 1,
)  # fmt: skip

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
        if (name == "eps" or name.endswith("_eps")) and not value >= 0:
            raise ValueError(f"{name}={value!r}: must not be below 0")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name}={value!r}: must be finite")
        if name == "pad_token_id" and value < -1:
            raise ValueError(f"pad_token_id={value}: must be an id, at least 0, or None if there is no padding token")


def check_layer_types(kinds: Sequence[str], known: tuple[str, str], config: Any) -> None:
    """kinds: the attention of each layer; known: what it may be, full or within a window. Raises ValueError for another
    kind or number of layers, and for a window that a layer uses and that holds no position."""
    if unknown := [kind for kind in kinds if kind not in known]:
        raise ValueError(f"layer_types has {unknown[0]!r}; each must be {known[0]!r} or {known[1]!r}")
    if len(kinds) != config.n_layers:
        raise ValueError(f"layer_types names {len(kinds)} layers; n_layers is {config.n_layers}")
    window = getattr(config, "window", None)
    if known[1] in kinds and window is not None and window < 1:
        raise ValueError(f"window={window}: must be a whole number, at least 1")


def check_some_layers(config: Any) -> None:
    """Raises ValueError for a model without layers, if its other parts are made after the first of them."""
    if config.n_layers < 1:
        raise ValueError(f"n_layers={config.n_layers}: must be a whole number, at least 1")


def check_rotary_width(field: str, columns: int, rotated: int) -> None:
    """Raises ValueError, which names this field, if a head has fewer columns than the pairs of `rotated` columns."""
    if 2 * ((rotated + 1) // 2) > columns:
        raise ValueError(f"{field}={columns}: the columns of a head are rotated in pairs; must be even")


def require_tensor(name: str, given: Any) -> None:
    """Raises TypeError for a list or an array."""
    if not isinstance(given, torch.Tensor):
        kind = type(given).__name__
        article = "an" if kind[0] in "aeiou" else "a"
        raise TypeError(f"{name} is {article} {kind}: give a tensor, torch.as_tensor({name})")


def can_read_values(given: torch.Tensor) -> bool:
    """Whether a check may read values: on a GPU that would wait, and in a graph it is impossible."""
    return given.device.type == "cpu" and not torch.compiler.is_compiling()


def check_ids(name: str, ids: torch.Tensor | None) -> torch.Tensor:
    """ids, if they are integers [B,L]; otherwise raises an error that describes them in one line."""
    if ids is None:
        raise ValueError(f"{name} is missing")
    require_tensor(name, ids)
    if ids.is_floating_point() or ids.dtype == torch.bool or ids.dim() != 2:
        raise ValueError(f"{name} must be integers [B,L]; got {ids.dtype} {list(ids.shape)}")
    if ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{name} is {ids.dtype}, in which no table is looked up: give {name}.long()")
    if ids.size(1) == 0:
        raise ValueError(f"{name} has shape {list(ids.shape)}: each row needs at least one id")
    return ids


def check_positions(position_ids: Any, ids: torch.Tensor) -> None:
    """Raises TypeError or ValueError unless position_ids are integers for ids [B,L]: [L], [1,L] or [B,L]."""
    require_tensor("position_ids", position_ids)
    if position_ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"position_ids is {position_ids.dtype}, in which no table is looked up: give int64")
    shape = position_ids.shape
    fits = len(shape) == 1 or (len(shape) == 2 and (shape[0] == 1 or shape[0] == ids.size(0)))
    if not fits or shape[-1] != ids.size(-1):
        raise ValueError(f"position_ids has shape {list(shape)}, input_ids has {list(ids.shape)}")


def embed_ids(table: Any, ids: Any, name: str) -> torch.Tensor:
    """Rows of an embedding. The cause is searched only after a failed look-up (on a GPU the look-up itself asserts)."""
    weight = getattr(table, "weight", None)
    if isinstance(ids, torch.Tensor) and ids.is_meta and isinstance(weight, torch.Tensor) and not weight.is_meta:
        raise ValueError(f"{name} is on the device meta, where no ids are, and the model on {weight.device}")
    try:
        return table(ids)
    except IndexError:
        worst = ids.max().item() if ids.max() >= table.num_embeddings else ids.min().item()
    raise ValueError(f"{name} holds {worst}, outside its table: ids go from 0 to {table.num_embeddings - 1}")


def check_max_length(config: Any, name: str, ids: torch.Tensor, past: int | torch.Tensor = 0) -> None:
    """Raises ValueError if ids [B,L] after `past` others go beyond the last position. While a graph is compiled,
    tensors have no values and nothing is raised: `decode.compiled` checks beforehand."""
    end = past + ids.size(1)
    if not (isinstance(end, torch.Tensor) and torch.compiler.is_compiling()) and end > config.max_length:
        raise ValueError(f"{name} reaches position {int(end)}, max_length is {config.max_length}")


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


def check_mems(mems: Sequence[Tensor], ids: Tensor, c: Any) -> list[Tensor]:
    """mems, per layer [M,B,E] -> the memory of each layer [B,M,E], after checking that it fits the batch"""
    wrong = [m for m in mems if m.dim() != 3 or m.shape[1:] != (len(ids), c.d_model)]
    if wrong or len(mems) != c.n_layers:
        found = list(wrong[0].shape) if wrong else f"{len(mems)} tensors"
        raise ValueError(f"mems must be {c.n_layers} tensors [M,{len(ids)},{c.d_model}]; got {found}")
    return [m.transpose(0, 1) for m in mems]


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


def check_classes(name: str, given: Tensor | None, logits: Tensor) -> Tensor | None:
    """The target called `name`, if it holds a class of logits [...,N] for each row; None stays None."""
    return None if given is None else check_target(name, given, logits.shape[:-1], logits.size(-1))


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
