"""Adapters in PEFT's layout: adapter_config.json, and adapter_model.safetensors with two thin matrices for each layer,
under the published names of the layers.

Where several layers here are one published matrix (GPT-2's c_attn), so are their adapters: of rank r each, they become
one whose rank is the sum, or r again if they share their first matrix, as those that PEFT trained do.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from .. import registry
from ..nn.lora import LoRALinear
from . import files, loading

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
PREFIX = "base_model.model."
# of other tasks PEFT expects the head's weights too, which are no part of an adapter here
TASKS = {"causal_lm": "CAUSAL_LM", "seq2seq_lm": "SEQ_2_SEQ_LM", None: "FEATURE_EXTRACTION"}
NOT_READ = {  # settings of PEFT that change what an adapter computes -> the value with which they do not
    "use_dora": False, "bias": "none", "modules_to_save": None, "lora_bias": False, "target_parameters": None,
    "trainable_token_indices": None, "layer_replication": None, "alora_invocation_tokens": None,
    "use_qalora": False,
}  # fmt: skip
# values of init_lora_weights with which the base keeps its weights; PiSSA and its like change them
STARTS = (None, True, False, "gaussian", "eva", "orthogonal")
# published module -> for each of its rows, the number of a layer and the row there
Origins = dict[str, tuple[Tensor, Tensor]]


def origins(model: Any, layers: Mapping[str, nn.Module]) -> Origins:
    """Where the rows of each published matrix come from. The name map is applied to numbers in place of the weights, so
    that whatever it does to their rows is known. Layers outside `layers` have the number -1. What files do not store as
    a matrix (XLNet's projections) is left out, as it is no layer in transformers."""
    numbers = {f"{path}.weight": number for number, path in enumerate(layers)}
    sizes = shapes(model)
    rows = max(size[0] for size in sizes.values() if size)
    try:
        published = dump(model, {name: row_numbers(numbers.get(name, -1) * rows, sizes[name], 1) for name in sizes})
    except RuntimeError:  # a map that splits the columns too needs all of them
        published = dump(model, {name: row_numbers(numbers.get(name, -1) * rows, sizes[name]) for name in sizes})
    found = {}
    for name, marks in published.items():
        if not marks.is_meta and marks.dim() == 2 and bool((marks >= 0).any()):
            in_rows = marks.size(1) == 1 or bool((marks == marks[:, :1]).all())
            marks = marks[:, 0] if in_rows and marks.size(0) > 1 else marks[0]
            number = marks.div(rows, rounding_mode="floor")
            found[name.removesuffix(".weight")] = (number, marks - number * rows)
    return found


def dump(model: Any, weights: files.Tensors) -> files.Tensors:
    """The tensors under their published names."""
    kind = registry.load(registry.name_of(model))
    if not hasattr(kind, "HF"):
        return weights
    return loading.names(model, kind).dump(weights, with_head=model.head is not None)


def row_numbers(start: int, shape: torch.Size, width: int | None = None) -> Tensor:
    """Numbers from `start`, one for each row of a matrix of this shape, in `width` columns, by default all; of another
    tensor the shape alone."""
    if len(shape) != 2:
        return torch.empty(shape, device="meta")
    return (start + torch.arange(shape[0]))[:, None].expand(-1, width or shape[1])


def shapes(model: nn.Module) -> dict[str, torch.Size]:
    """The shapes of a model's tensors under the names that they have without adapters."""
    adapted = {path for path, module in model.named_modules() if isinstance(module, LoRALinear)}
    found = {}
    for name, tensor in model.state_dict().items():
        stem, _, last = name.rpartition(".")
        if stem.removesuffix(".base") in adapted and stem not in adapted:
            name = f"{stem.removesuffix('.base')}.{last}"
        if stem not in adapted:
            found[name] = tensor.shape
    return found


def published_modules(model: Any, layers: Mapping[str, nn.Module]) -> dict[str, str]:
    """The path of each layer -> the published path of the module that it is, or is a part of."""
    if not hasattr(model, "config"):
        return {}
    paths, places = list(layers), origins(model, layers).items()
    return {paths[i]: name for name, (number, _) in places for i in number.unique().tolist() if i >= 0}


def write(model: Any, layers: Mapping[str, LoRALinear], directory: str | Path) -> None:
    """Writes the adapters of these layers."""
    weights: dict[str, Tensor] = {}
    sizes: dict[str, tuple[int, float]] = {}  # module -> rank, alpha
    places = origins(model, layers)
    stored = {i for number, _ in places.values() for i in number.tolist()}
    if lacking := [path for i, path in enumerate(layers) if i not in stored]:
        raise ValueError(f"{lacking[0]} is no layer of its own in published files: choose other targets for an adapter")
    for module, (number, row) in places.items():
        parts = [(i, layer) for i, layer in enumerate(layers.values()) if bool((number == i).any())]
        a, b = join_parts([(layer, number == i, row[number == i]) for i, layer in parts], len(number))
        weights |= {f"{PREFIX}{module}.lora_A.weight": a, f"{PREFIX}{module}.lora_B.weight": b}
        sizes[module] = (len(a), parts[0][1].scale * len(a))
    directory = files.require_path("directory", directory)
    directory.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}, str(directory / WEIGHTS))
    text = json.dumps(describe(model, sizes), indent=2)
    (directory / CONFIG).write_text(text + "\n", encoding="utf-8")


def join_parts(parts: list[tuple[LoRALinear, Tensor, Tensor]], rows: int) -> tuple[Tensor, Tensor]:
    """The adapters of the parts of one published matrix, each with the mask of its rows bool [rows] and their numbers
    in the layer -> a [r,in], b [rows,r] of the whole"""
    first = parts[0][0]
    shared = all(layer.a is first.a or torch.equal(layer.a, first.a) for layer, _, _ in parts)
    a = first.a if shared else torch.cat([layer.a for layer, _, _ in parts])
    b, start = first.b.new_zeros(rows, len(a)), 0
    for layer, own_rows, row in parts:
        width = layer.a.size(0)
        b[own_rows.to(b.device), start : start + width] = layer.b.detach()[row.to(b.device)]
        start += 0 if shared else width
    return a, b


def describe(model: Any, sizes: Mapping[str, tuple[int, float]]) -> dict[str, Any]:
    """The adapter_config.json of modules with these ranks and alphas; the most frequent are the ones for all."""
    kinds = list(sizes.values())
    rank, alpha = max(kinds, key=kinds.count)
    others = {module: size for module, size in sizes.items() if size != (rank, alpha)}
    return {
        "peft_type": "LORA",
        "task_type": TASKS.get(model.head),
        "base_model_name_or_path": None,
        "inference_mode": True,
        "r": rank,
        "lora_alpha": alpha,
        "rank_pattern": {module: size[0] for module, size in others.items()},
        "alpha_pattern": {module: size[1] for module, size in others.items()},
        "target_modules": sorted(sizes),
        "lora_dropout": 0.0,
        "bias": "none",
        "fan_in_fan_out": False,
        "modules_to_save": None,
        "use_rslora": False,
        "use_dora": False,
    }


def read(model: Any, layers: Mapping[str, nn.Linear], directory: str | Path) -> dict[str, tuple[Tensor, Tensor, float]]:
    """The adapters in a directory: path of one of these layers -> a [r,in], b [out,r] and their scale."""
    directory = files.require_path("directory", directory)
    for file in (directory / CONFIG, directory / WEIGHTS):
        if not file.is_file():
            raise FileNotFoundError(f"{file}: not found; an adapter's directory holds {CONFIG} and {WEIGHTS}")
    config = check_config(files.read_json(directory / CONFIG), directory / CONFIG)
    places, paths = origins(model, layers), list(layers)
    found: dict[str, tuple[Tensor, Tensor, float]] = {}
    for module, (a, b) in pairs(files.read_safe(files.require_inside(file)), file).items():
        number, row = places[match(module, places, file)]
        if b.size(0) != len(number) or a.size(0) != b.size(1):
            raise ValueError(f"{file}: {module} is {list(b.shape)} · {list(a.shape)}, not {len(number)} rows")
        for i in number[number >= 0].unique().tolist():
            if a.size(1) != layers[paths[i]].in_features:
                raise ValueError(f"{file}: {module} reads {a.size(1)} numbers, {paths[i]} another number")
            own = b.new_empty(int((number == i).sum()), b.size(1))
            own[row[number == i]] = b[number == i]
            found[paths[i]] = (a, own, scale_of(config, module, a.size(0)))
    return found


def check_config(config: dict[str, Any], file: Path) -> dict[str, Any]:
    """The settings of a LoRA adapter. Raises ValueError, naming the file, for another kind, or what is not read."""
    if config.get("peft_type") != "LORA":
        raise ValueError(f"{file}: peft_type is {config.get('peft_type')!r}; only 'LORA' is read")
    for name, neutral in NOT_READ.items():
        if config.get(name) not in (None, neutral, []):
            raise ValueError(f"{file}: {name} is {config[name]!r}; only {neutral!r} is implemented")
    if (start := config.get("init_lora_weights")) not in STARTS:
        raise ValueError(f"{file}: init_lora_weights is {start!r}, which changes the base's weights; known: {STARTS}")
    for name in ("r", "lora_alpha"):
        if isinstance(config.get(name), bool) or not isinstance(config.get(name), int | float) or config[name] <= 0:
            raise ValueError(f"{file}: {name} is {config.get(name)!r}; it must be a number above 0")
    for pattern in config.get("alpha_pattern") or {}:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{file}: alpha_pattern has {pattern!r}, no regular expression: {error}") from None
    return config


def pairs(weights: files.Tensors, file: Path) -> dict[str, tuple[Tensor, Tensor]]:
    """module -> its two matrices. Raises ValueError for tensors that are not those of a LoRA adapter."""
    ends = (".lora_A.weight", ".lora_B.weight")
    modules = sorted({name.removesuffix(end) for name in weights for end in ends if name.endswith(end)})
    wanted = {f"{module}{end}" for module in modules for end in ends}
    if wrong := sorted(wanted ^ weights.keys()):
        kind = "has no" if wrong[0] in wanted else "has an unknown tensor"
        raise ValueError(f"{file}: {kind} {wrong[0]}")
    if wrong := [name for name, tensor in weights.items() if tensor.dim() != 2]:
        raise ValueError(f"{file}: {wrong[0]} is {list(weights[wrong[0]].shape)}; it must be a matrix")
    return {m.removeprefix(PREFIX): (weights[m + ends[0]], weights[m + ends[1]]) for m in modules}


def match(module: str, places: Origins, file: Path) -> str:
    """The published module of this name, which may be that of the model with or without its head. Raises ValueError if
    the model has none."""
    found = [name for name in places if name == module or f".{name}".endswith(f".{module}")]
    found = found or [name for name in places if module.endswith(f".{name}")]
    if len(found) != 1:
        raise ValueError(f"{file}: the model has no layer {module}")
    return found[0]


def scale_of(config: Mapping[str, Any], module: str, rank: int) -> float:
    """What the product of a module's matrices counts. As in PEFT, the keys of alpha_pattern are regular expressions for
    the last components of a path, and the first that matches counts."""
    patterns: Mapping[str, float] = config.get("alpha_pattern") or {}
    own = [alpha for name, alpha in patterns.items() if re.match(rf"(.*\.)?({name})$", module)]
    alpha = float(own[0] if own else config["lora_alpha"])
    return alpha / math.sqrt(rank) if config.get("use_rslora") else alpha / rank
