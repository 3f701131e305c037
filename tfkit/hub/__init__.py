"""Models from a name, from a directory, and to a directory: config.json and model.safetensors.

What does not fit is never skipped: every error is one line that names the file, the field or the tensor. One thing is
left out by rule: weights of another head than the one asked for. A published BERT was saved with the heads of its
pretraining; who wants its states, or another head, has no use for them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from .. import registry
from ..decode import settings
from ..namemap import NameMap
from . import files, published


def from_config(name: str, head: str | None = None, preset: str | None = None, **changes: Any) -> Any:
    """A model with fresh weights: from_config("transformer", head="seq2seq_lm", preset="base", dropout=0.0).

    name: an architecture, or a published size by its own name; changes: fields of the architecture's Config.
    Raises LookupError for an unknown name or preset, ValueError for an unknown head, TypeError for an unknown field.
    """
    module, settings = registry.resolve(name, preset)
    return module.MODEL(_config(module, {**settings, **changes}, name), head)


def from_hf_config(config: dict[str, Any], head: str | None = None) -> Any:
    """The model that a published config.json describes, with fresh weights; head: another than the one it names.

    config: its fields, as json.load gives them: model_type says which architecture, architectures which head. Raises
    ValueError for a model_type, class, field or value that is not understood.
    """
    module, settings, head = _understood(config, head)
    return module.MODEL(settings, head)


def from_pretrained(
    directory: str | Path, head: str | None = None, *, dtype: torch.dtype | str | None = None, new_head: bool = False
) -> Any:
    """The model in a directory, in eval mode: config.json with model.safetensors (or its shards and their index), or
    pytorch_model.bin. The architecture is the one that config.json names, and so is the head unless another is asked.

    dtype: of the weights, "auto" for the file's own; float32 unless given. Weights of other heads are left out.
    new_head: whether weights that only this head has may be missing and start afresh, as fine-tuning wants it.
    Raises FileNotFoundError, or ValueError for a damaged file, an unknown field, missing, extra or misshapen tensors.
    """
    directory = Path(directory)
    module, config, head = _described(directory / files.CONFIG, head)
    outline = _outline(module, config, head, directory / files.CONFIG)
    file, weights = files.read(directory)
    try:
        if hasattr(module, "HF"):
            weights = names(outline, module).load(weights)
        weights = _fitting(module, outline, weights, new_head)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    model = module.MODEL(config, head).to(_dtype(dtype, weights))
    model.load_state_dict(weights, strict=not new_head)
    model.generation_config = settings.read(directory, files.read_json(directory / files.CONFIG))
    return model.eval()


def save_pretrained(model: Any, directory: str | Path, max_shard_size: int = files.SHARD_BYTES) -> None:
    """Write the model's config.json and its weights; the directory is made where it is missing.

    max_shard_size: bytes; a larger model goes into several files and an index.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    kind, weights = registry.name_of(model), model.state_dict()
    module = registry.load(kind)
    if hasattr(module, "HF"):
        theirs = {ours: name for name, ours in published.NAMES.items()}.get(kind, kind)
        write = getattr(module, "write_config", published.write)
        described = {"model_type": theirs, **write(module, asdict(model.config), model.head)}
        weights = names(model, module).dump(weights, headed=model.head is not None)
    else:
        own = {"architectures": [type(model).__name__], "head": model.head}
        described = {"model_type": kind, **own, **asdict(model.config)}
    files.write(weights, directory, max_shard_size)
    settings.write(model, directory)
    (directory / files.CONFIG).write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


def names(model: Any, module: ModuleType) -> Any:
    """The map of tensor names: the architecture's, or of a model that is made of others, its own."""
    return model.names if hasattr(model, "names") else module.HF


def _config(module: ModuleType, settings: dict, name: str) -> Any:
    known = [field.name for field in fields(module.Config)]
    if unknown := sorted(settings.keys() - set(known)):
        raise TypeError(f"{name} has no field {', '.join(unknown)}; there is {', '.join(known)}")
    return module.Config(**settings)


def _understood(described: dict[str, Any], head: str | None) -> tuple[ModuleType, Any, str | None]:
    """-> the architecture's module, its Config, and the head: the one asked for, or else the one described"""
    described = dict(described)
    kind = published.architecture(described.pop("model_type", None))
    module = registry.load(kind)
    read = published.read if hasattr(module, "HF_HEADS") else _own
    settings, head = getattr(module, "read_config", read)(module, described, head)
    return module, _config(module, settings, kind), head


def _own(_module: ModuleType, described: dict[str, Any], head: str | None) -> tuple[dict, str | None]:
    """Fields and head of a configuration in our own words."""
    settings = {k: v for k, v in described.items() if k not in ("head", "architectures")}
    return settings, described.get("head") if head is None else head


def _described(file: Path, head: str | None) -> tuple[ModuleType, Any, str | None]:
    if not file.is_file():
        raise FileNotFoundError(f"{file}: not found; a model's directory holds {files.CONFIG} and {files.WEIGHTS}")
    try:
        return _understood(files.read_json(file), head)
    except (TypeError, ValueError) as error:
        raise ValueError(str(error) if str(error).startswith(str(file)) else f"{file}: {error}") from None


def _outline(module: ModuleType, config: Any, head: str | None, file: Path) -> torch.nn.Module:
    """The model without its weights: what must fit is known before any memory is taken."""
    try:
        with torch.device("meta"):
            return module.MODEL(config, head)
    except (TypeError, ValueError, RuntimeError, ArithmeticError) as error:  # nothing but the config can be wrong
        raise ValueError(f"{file}: {str(error).partition(chr(10))[0]}") from None


def _fitting(module: ModuleType, outline: Any, weights: files.Tensors, new_head: bool) -> files.Tensors:
    """The tensors that the model has, without those of other heads. ValueError names what does not fit."""
    wanted = outline.state_dict()
    missing, extra = wanted.keys() - weights.keys(), weights.keys() - wanted.keys()
    if missing or extra:
        common, every = _parts(module, outline.config)
        unknown, lacking = extra - every, missing & common if new_head else missing
        hint = "" if lacking & common else "; new_head=True lets a head start afresh"
        for what, names, more in (("missing", lacking, hint), ("unknown", unknown, "")):
            if names:
                shown = ", ".join(_both_names(module, n) for n in sorted(names)[:4]) + (", …" if len(names) > 4 else "")
                raise ValueError(f"{len(names)} tensors {what}: {shown}{more}")
    weights = {name: tensor for name, tensor in weights.items() if name in wanted}
    for name, tensor in weights.items():
        ours = wanted[name]
        if tensor.shape != ours.shape:
            raise ValueError(f"{_both_names(module, name)} is {list(tensor.shape)}, the model's is {list(ours.shape)}")
        if tensor.is_floating_point() != ours.is_floating_point():
            raise ValueError(f"{_both_names(module, name)} is {tensor.dtype}, the model's is {ours.dtype}")
    return weights


def _parts(module: ModuleType, config: Any) -> tuple[set[str], set[str]]:
    """-> the tensors that this model has under any head, and those that it has under some head"""
    with torch.device("meta"):
        names = [set(module.MODEL(config, head).state_dict()) for head in module.MODEL.HEADS]
    return set.intersection(*names), set.union(*names)


def _both_names(module: ModuleType, name: str) -> str:
    """Ours, and theirs where it is another: one of the two is the one that the reader knows."""
    names = getattr(module, "HF", None)
    theirs = names.their_name(name) if isinstance(names, NameMap) else None
    return name if theirs in (None, name) else f"{name} ({theirs})"


def _dtype(asked: torch.dtype | str | None, weights: files.Tensors) -> torch.dtype:
    if asked == "auto":
        floating = [tensor.dtype for tensor in weights.values() if tensor.is_floating_point()]
        return reduce(torch.promote_types, floating)
    found = torch.float32 if asked is None else getattr(torch, asked, None) if isinstance(asked, str) else asked
    if not isinstance(found, torch.dtype) or not found.is_floating_point:
        raise ValueError(f"dtype={asked!r} is no floating-point type: give torch.bfloat16, 'bfloat16' or 'auto'")
    return found
