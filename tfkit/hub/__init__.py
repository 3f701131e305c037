"""Models from a name, from a directory, and to a directory: config.json and model.safetensors.

Nothing that does not fit is skipped: every error is one line that names the file, the field or the tensor. The one
exception is by rule: weights that belong to a head other than the requested one are left out. A published BERT was
saved with its pretraining heads, which are of no use to somebody who wants its hidden states or another head.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from .. import registry
from ..decode import settings
from ..nn.int8 import Int8Weight
from ..nn.lora import LoRALinear
from . import files, loading, packages, published

if TYPE_CHECKING:
    from ..models._base import Model


# arguments of transformers' from_pretrained -> what to write here
ELSEWHERE = {
    "torch_dtype": 'write dtype=, such as dtype="bfloat16"',
    "device_map": 'load the model, and move it: model.to("cuda")',
    "device": 'load the model, and move it: model.to("cuda")',
    "low_cpu_mem_usage": "leave it out: weights stay in the file until they are read",
    "load_in_8bit": 'write dtype="int8"',
    "quantization_config": 'write dtype="int8", or leave it out',
    "trust_remote_code": "leave it out: no code of a checkpoint is run",
    "ignore_mismatched_sizes": "write new_head=True",
}


def from_config(
    name: str, head: str | None = None, preset: str | None = None, *, attn_implementation: str = "sdpa", **changes: Any
) -> Model:
    """A model with random weights: from_config("transformer", head="seq2seq_lm", preset="base", dropout=0.0).

    name: an architecture, or a published size by its own name; attn_implementation: "sdpa" or "flex_attention", see
    `Model.set_attn_implementation`; changes: fields of the architecture's Config. Raises LookupError for an unknown
    name or preset, ValueError for an unknown head or attn_implementation, TypeError for an unknown field.
    """
    module, settings = registry.resolve(name, preset)
    return _set_attention(module.MODEL(_config(module, {**settings, **changes}, name), head), attn_implementation)


def from_hf_config(config: dict[str, Any], head: str | None = None) -> Model:
    """The model that a published config.json describes, with random weights; head: overrides the head that it names.

    config: its fields, as json.load returns them: model_type names the architecture, architectures the head. Raises
    ValueError for a model_type, class, field or value that is not understood.
    """
    module, settings, head = _resolve_config(config, head)
    model: Model = module.MODEL(settings, head)
    return model


def from_pretrained(
    directory: str | Path,
    head: str | None = None,
    *,
    dtype: torch.dtype | str | None = None,
    new_head: bool = False,
    strict: str = "error",
    attn_implementation: str = "sdpa",
    **overrides: Any,
) -> Model:
    """The model in a directory, or a model from `tfkit get` by its name, in eval mode: config.json with
    model.safetensors (or its shards and their index), or pytorch_model.bin. config.json names the architecture, and the
    head too unless `head` is given. The weights stay in the memory-mapped file until they are read; no random numbers
    are drawn for them.

    dtype: of the weights; "auto" takes the one that config.json names, or else the file's own; default float32. "int8"
    rounds the matrices for inference, as `nn.int8.quantize` does, and keeps float32 elsewhere. Weights of other heads
    are left out. new_head: whether weights that belong to this head alone may be missing or of another size and are
    then initialised afresh, as for fine-tuning. strict: "error" or "warn" for unknown configuration fields and tensors;
    fields that are known to change the result always raise. attn_implementation: "sdpa" or "flex_attention", see
    `Model.set_attn_implementation`. overrides: fields of the configuration, under our names or transformers':
    num_labels=5. Raises FileNotFoundError; TypeError for an argument that is not a path, or an override that is not a
    field; ValueError for a damaged file, an unknown field, missing, extra or misshapen tensors.
    """
    if strict not in ("error", "warn"):
        raise ValueError(f"strict={strict!r} must be 'error' or 'warn'")
    for name, instead in ELSEWHERE.items():
        if name in overrides:
            raise TypeError(f"{name}={overrides[name]!r}: {instead}")
    directory = files.existing_directory(packages.locate(directory))
    config_dict = _read_config_file(directory / files.CONFIG, head, strict, overrides)
    dtype = _named_dtype(directory) if dtype == "auto" else dtype
    model = loading.load(directory, *config_dict, dtype=dtype, new_head=new_head, strict=strict)
    _set_attention(model, attn_implementation)
    model.generation_config = settings.read(directory, files.read_json(directory / files.CONFIG))
    return model


def save_pretrained(model: Any, directory: str | Path, max_shard_size: int | str = files.SHARD_BYTES) -> None:
    """Write the model's config.json and its weights; the directory is created if it is missing.

    max_shard_size: bytes, or "5GB"; a larger model is split into several files with an index. Raises ValueError for an
    invalid size or weights in int8, TypeError for an argument that is not a path, NotADirectoryError for a file, each
    before anything is written.
    """
    directory, room = _new_directory(directory), files.size_in_bytes(max_shard_size)
    if any(isinstance(weight, Int8Weight) for weight in model.parameters()):
        raise ValueError("weights in int8 are not saved: save the model as it was read, and round it when it is loaded")
    if any(isinstance(module, LoRALinear) for module in model.modules()):
        raise ValueError("the model has an adapter: save that with its save_pretrained, or merge it first")
    kind, weights = registry.name_of(model), model.state_dict()
    module = registry.load(kind)
    if hasattr(module, "HF"):
        model_type = published.model_type(kind)
        written = published.write(module, asdict(model.config), model.head)
        config_dict = {**getattr(model.config, "published", {}), "model_type": model_type, **written}
        config_dict = getattr(module, "nest_hf_fields", dict)(config_dict)
        weights = loading.names(model, module).dump(weights, with_head=model.head is not None)
    else:
        own = {"architectures": [type(model).__name__], "head": model.head}
        config_dict = {"model_type": kind, **own, **asdict(model.config)}
    directory.mkdir(parents=True, exist_ok=True)
    files.write(weights, directory, room)
    settings.write(model, directory)
    (directory / files.CONFIG).write_text(json.dumps(config_dict, indent=2) + "\n", encoding="utf-8")


def _new_directory(directory: Any) -> Path:
    """A directory to write to. Raises NotADirectoryError if a file has its name."""
    path = files.require_path("directory", directory)
    if (file := next((part for part in (path, *path.parents) if part.is_file()), None)) is not None:
        raise NotADirectoryError(f"directory={str(path)!r}: {file} is a file: choose another folder")
    return path


def _named_dtype(directory: Path) -> str:
    """The dtype that config.json names, or "auto" if it names none."""
    config_dict = files.read_json(directory / files.CONFIG)
    found = config_dict.get("dtype") or config_dict.get("torch_dtype") or "auto"
    return found if isinstance(found, str) else "auto"


def _set_attention(model: Model, name: str) -> Model:
    """The model, set to this attn_implementation unless it is the default. Raises ValueError if it does not have it."""
    if name != "sdpa":
        model.set_attn_implementation(name)
    return model


def _config(module: ModuleType, settings: dict, name: str) -> Any:
    known = [field.name for field in fields(module.Config)]
    if unknown := sorted(settings.keys() - set(known)):
        raise TypeError(f"{name} has no field {', '.join(unknown)}; available: {', '.join(known)}")
    return module.Config(**settings)


def _resolve_config(
    config_dict: dict[str, Any], head: str | None, strict: str = "error", overrides: dict[str, Any] | None = None
) -> tuple[ModuleType, Any, str | None]:
    """-> the architecture's module, its Config, and the head: the requested one, or else the one in config.json"""
    if not isinstance(config_dict, Mapping):
        raise TypeError(f"config is of type {type(config_dict).__name__}: give the fields of a config.json, a dict")
    config_dict = dict(config_dict)
    kind = published.architecture(config_dict.pop("model_type", None))
    module = registry.load(kind)
    if hasattr(module, "HF_HEADS"):
        settings, head = published.read(module, config_dict, head, strict)
    else:
        settings, head = _read_tfkit_config(config_dict, head)
    config = _config(module, {**settings, **_translate_overrides(module, settings, overrides or {})}, kind)
    config.published = published.extra_settings(
        module, config_dict
    )  # no field of Config: it is only kept so that it can be written again
    return module, config, head


def _translate_overrides(module: ModuleType, settings: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    """The overrides under our names; a new number of labels drops the names of the old labels."""
    found = {getattr(module, "HF_FIELDS", {}).get(name, name): value for name, value in overrides.items()}
    if "num_labels" in found and "id2label" not in found and len(settings.get("id2label") or ()) != found["num_labels"]:
        found |= {name: None for name in ("id2label", "label2id") if name in settings}
    return found


def _read_tfkit_config(config_dict: dict[str, Any], head: str | None) -> tuple[dict, str | None]:
    """The fields and the head of a configuration that is written in our own terms."""
    settings = {k: v for k, v in config_dict.items() if k not in ("head", "architectures")}
    return settings, config_dict.get("head") if head is None else head


def _read_config_file(
    file: Path, head: str | None, strict: str, overrides: dict[str, Any]
) -> tuple[ModuleType, Any, str | None]:
    config_dict = files.read_config(file.parent)
    try:
        found = _resolve_config(config_dict, head, strict)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from None
    return _resolve_config(config_dict, head, "quiet", overrides) if overrides else found
