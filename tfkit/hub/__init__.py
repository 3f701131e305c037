"""Models from a name, from a directory, and to a directory: config.json and model.safetensors.

What does not fit is never skipped: every error is one line that names the file, the field or the tensor.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from .. import registry
from . import published

CONFIG, WEIGHTS = "config.json", "model.safetensors"


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


def from_pretrained(directory: str | Path, head: str | None = None) -> Any:
    """The model that `save_pretrained` wrote, in eval mode; head: another than the saved one.

    Raises FileNotFoundError, or ValueError for a damaged file, an unknown field, missing, extra or misshapen tensors.
    """
    directory = Path(directory)
    described = _read_config(directory / CONFIG)
    try:
        module, settings, head = _understood(described, head)
        model = module.MODEL(settings, head)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{directory / CONFIG}: {error}") from None
    weights = _read_weights(directory / WEIGHTS)
    if hasattr(module, "HF"):
        try:
            weights = module.HF.load(weights)
        except ValueError as error:
            raise ValueError(f"{directory / WEIGHTS}: {error}") from None
    _fill(model, weights, directory / WEIGHTS)
    return model.eval()


def _understood(described: dict[str, Any], head: str | None) -> tuple[ModuleType, Any, str | None]:
    """-> the architecture's module, its Config, and the head: the one asked for, or else the one described"""
    described = dict(described)
    kind = described.pop("model_type", None)
    kind = published.NAMES.get(kind, kind)
    if kind not in registry.sources():
        raise ValueError(f"model_type {kind!r} is none of {', '.join(registry.sources())}")
    module = registry.load(kind)
    read = published.read if hasattr(module, "HF_HEADS") else _own
    settings, head = getattr(module, "read_config", read)(module, described, head)
    return module, _config(module, settings, kind), head


def _own(_module: ModuleType, described: dict[str, Any], head: str | None) -> tuple[dict, str | None]:
    """Fields and head of a configuration in our own words."""
    settings = {k: v for k, v in described.items() if k not in ("head", "architectures")}
    return settings, described.get("head") if head is None else head


def save_pretrained(model: Any, directory: str | Path) -> None:
    """Write the model's config.json and model.safetensors; the directory is made where it is missing."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    kind, weights = _architecture(model), model.state_dict()
    module = registry.load(kind)
    if hasattr(module, "HF"):
        theirs = {ours: name for name, ours in published.NAMES.items()}.get(kind, kind)
        described = {"model_type": theirs, **published.write(module, asdict(model.config), model.head)}
        weights = module.HF.dump(weights, headed=model.head is not None)
    else:
        own = {"architectures": [type(model).__name__], "head": model.head}
        described = {"model_type": kind, **own, **asdict(model.config)}
    weights = {name: tensor.contiguous() for name, tensor in weights.items()}
    save_file(weights, directory / WEIGHTS, metadata={"format": "pt"})
    (directory / CONFIG).write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


def _architecture(model: Any) -> str:
    for name, source in registry.sources().items():
        if source.partition(":")[0] == type(model).__module__:
            return name
    raise ValueError(f"{type(model).__name__} is not a registered architecture: it could not be loaded again")


def _config(module: ModuleType, settings: dict, name: str) -> Any:
    known = [field.name for field in fields(module.Config)]
    if unknown := sorted(settings.keys() - set(known)):
        raise TypeError(f"{name} has no field {', '.join(unknown)}; there is {', '.join(known)}")
    return module.Config(**settings)


def _read_config(file: Path) -> dict:
    if not file.is_file():
        raise FileNotFoundError(f"{file}: not found; a model's directory holds {CONFIG} and {WEIGHTS}")
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file}: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file}: holds {type(found).__name__}, not an object")
    return found


def _read_weights(file: Path) -> dict[str, torch.Tensor]:
    if not file.is_file():
        raise FileNotFoundError(f"{file}: not found; a model's directory holds {CONFIG} and {WEIGHTS}")
    try:
        return load_file(file)
    except SafetensorError as error:
        raise ValueError(f"{file}: damaged or cut off ({error})") from None


def _fill(model: torch.nn.Module, weights: dict[str, torch.Tensor], file: Path) -> None:
    wanted = model.state_dict()
    for what, names in (("missing", wanted.keys() - weights.keys()), ("unknown", weights.keys() - wanted.keys())):
        if names:
            shown = ", ".join(sorted(names)[:4]) + (", …" if len(names) > 4 else "")
            raise ValueError(f"{file}: {len(names)} tensors {what}: {shown}")
    for name, tensor in weights.items():
        if tensor.shape != wanted[name].shape:
            raise ValueError(f"{file}: {name} is {list(tensor.shape)}, the model's is {list(wanted[name].shape)}")
    model.load_state_dict(weights)
