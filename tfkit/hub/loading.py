"""From files to a model: the model is built without memory, and the tensors of the files become its parameters.

No random number is drawn and nothing is copied without need: a safetensors file is memory-mapped, a name map returns
views, and a dtype is converted one tensor at a time. See docs/decisions/weights.md.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode

from ..namemap import NameMap, TensorMap, UnknownTensors, map_of
from ..nn.int8 import quantize
from . import files

if TYPE_CHECKING:
    from ..models._base import Model

WRAPPERS = {"module.": "DistributedDataParallel", "_orig_mod.": "torch.compile"}
WRONG = (TypeError, ValueError, RuntimeError, ArithmeticError, AssertionError)
UNSTORED_BYTES = 2**30  # of computed tables that no file stores, such as sinusoids


def load(
    directory: Path,
    module: ModuleType,
    config: Any,
    head: str | None,
    *,
    dtype: torch.dtype | str | None,
    new_head: bool,
    strict: str,
) -> Model:
    """The model in a directory; see `tfkit.from_pretrained`."""
    rounded = dtype in ("int8", torch.int8)
    wanted = None if rounded or dtype == "auto" else floating(dtype)
    file, weights = files.read(directory)
    if hasattr(module, "config_from_tensors"):
        notes, config = config.published, module.config_from_tensors(config, weights.keys())
        config.published = notes
    model = empty_model(module, config, head, directory / files.CONFIG, len(weights))
    try:
        weights = rename_tensors(model, module, weights, strict)
        weights = check_shapes(module, model, weights, new_head, strict)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    assign(model, weights, wanted or widest_dtype(weights))
    complete(model, wanted or widest_dtype(weights))
    if rounded:  # one matrix at a time, so that the whole model is never in memory as floats
        quantize(model).float()
    return model.eval()


def names(model: Any, module: ModuleType) -> TensorMap:
    """The map of tensor names: the architecture's, or the model's own if it depends on the configuration."""
    return map_of(model, module.HF)


def empty_model(module: ModuleType, config: Any, head: str | None, file: Path, stored: int) -> Model:
    """The model without its weights, so that names and shapes are known before any memory is taken.

    Raises ValueError if the configuration is impossible, or has far more parameters than the files have tensors.
    """
    try:
        with shapes_only(), limit_parameters(20 * stored + 1000):
            model: Model = module.MODEL(config, head)
    except WRONG as error:  # only the configuration can be the cause
        raise ValueError(f"{file}: {str(error).partition(chr(10))[0]}") from None
    unstored = model.state_dict().keys()
    if sum(b.nbytes for name, b in model.named_buffers() if name not in unstored) > UNSTORED_BYTES:
        raise ValueError(f"{file}: its tables of positions would take more than {UNSTORED_BYTES >> 30} GiB")
    return model


@contextmanager
def limit_parameters(count: int) -> Iterator[None]:
    """A context in which this thread may create only so many parameters: ten million layers are refused at once."""
    made, thread = 0, threading.get_ident()

    def count_parameter(_module: nn.Module, _name: str, _parameter: Any) -> None:
        nonlocal made
        made += threading.get_ident() == thread
        if made > count:
            raise ValueError(f"describes a model of more than {count} parameter tensors, far more than the files hold")

    handle = register_module_parameter_registration_hook(count_parameter)
    try:
        yield
    finally:
        handle.remove()


def rename_tensors(model: Any, module: ModuleType, weights: files.Tensors, strict: str) -> files.Tensors:
    """The file's tensors under the names used here. With strict "warn", tensors that the map does not know are left
    out."""
    for prefix, wrapper in WRAPPERS.items():
        if weights and all(name.startswith(prefix) for name in weights):
            raise ValueError(f"every name begins with {prefix!r}, as {wrapper} saves them: strip it from the names")
    if not hasattr(module, "HF"):
        return weights
    try:
        return names(model, module).load(weights)
    except UnknownTensors as error:
        if strict != "warn":
            raise
        ends = tuple(f".{name}" for name in error.names)
        kept = {n: t for n, t in weights.items() if not f".{n}".endswith(ends)}
        if len(kept) == len(weights):
            raise
        warnings.warn(f"{error}: left out", stacklevel=5)
    return names(model, module).load(kept)


def check_shapes(module: ModuleType, model: Any, weights: files.Tensors, new_head: bool, strict: str) -> files.Tensors:
    """The tensors that the model has, without those of other heads. Raises ValueError that names what does not fit."""
    wanted = model.state_dict()
    misshapen = {name for name in wanted.keys() & weights.keys() if weights[name].shape != wanted[name].shape}
    if new_head and misshapen:
        common, _ = _names_by_head(module, model)
        weights = {name: tensor for name, tensor in weights.items() if name not in misshapen - common}
    missing, extra = wanted.keys() - weights.keys(), weights.keys() - wanted.keys()
    if missing or extra:
        common, every = _names_by_head(module, model)
        unknown, lacking = extra - every, missing & common if new_head else missing
        if unknown and strict == "warn":
            warnings.warn(f"{len(unknown)} tensors unknown, left out: {_list_names(module, unknown)}", stacklevel=5)
            unknown = set()
        hint = "" if lacking & common else "; new_head=True initialises the head anew"
        for what, found, more in (("missing", lacking, hint), ("unknown", unknown, "")):
            if found:
                raise ValueError(f"{len(found)} tensors {what}: {_list_names(module, found)}{more}")
    weights = {name: tensor for name, tensor in weights.items() if name in wanted}
    for name, tensor in weights.items():
        _check_tensor(module, name, tensor, wanted[name])
    return weights


def _list_names(module: ModuleType, names: set[str]) -> str:
    return ", ".join(_both_names(module, n) for n in sorted(names)[:4]) + (", …" if len(names) > 4 else "")


def _check_tensor(module: ModuleType, name: str, tensor: torch.Tensor, own: torch.Tensor) -> None:
    if tensor.shape != own.shape:
        more = "; new_head=True initialises the head anew" if name.startswith(("task_head.", "classifier.")) else ""
        shapes = f"{list(tensor.shape)}, the model's is {list(own.shape)}"
        raise ValueError(f"{_both_names(module, name)} is {shapes}{more}")
    if tensor.is_floating_point() != own.is_floating_point():
        raise ValueError(f"{_both_names(module, name)} is {tensor.dtype}, the model's is {own.dtype}")


def _names_by_head(module: ModuleType, model: Any) -> tuple[set[str], set[str]]:
    """-> the tensors that this model has under every head with the same body, and those that it has under at least one
    head"""
    names = {}
    with shapes_only():
        for head in module.MODEL.HEADS:
            with suppress(ValueError):  # a head that this configuration cannot have (a decoder with an encoder's)
                names[head] = set(module.MODEL(model.config, head).state_dict())
    same_body = [found for head, found in names.items() if head in model.heads_of_this_body]
    return set.intersection(*same_body), set.union(*names.values())


def _both_names(module: ModuleType, name: str) -> str:
    """The name of a tensor here, and Hugging Face's if it differs: readers usually know one of the two."""
    names = getattr(module, "HF", None)
    published_name = names.published_name(name) if isinstance(names, NameMap) else None
    return name if published_name in (None, name) else f"{name} ({published_name})"


def assign(model: Any, weights: files.Tensors, dtype: torch.dtype) -> None:
    """The tensors become the parameters of the empty model. Modules that shared a parameter share it again."""
    shared: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        shared.setdefault(id(parameter), []).append(name)
    for name in list(weights):
        if weights[name].is_floating_point():
            weights[name] = weights[name].to(dtype)
            if dtype.itemsize < 4:  # by columns, as GPT-2's files have them, a product of 16-bit numbers is far slower
                weights[name] = weights[name].contiguous()
    model.load_state_dict(weights, strict=False, assign=True)
    for first, *others in shared.values():
        for name in others:
            stem, _, last = name.rpartition(".")
            setattr(model.get_submodule(stem), last, model.get_parameter(first))


class SkipInit(TorchFunctionMode):
    """While this mode is active, no tensor is filled with random numbers."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.normal_:
            # trunc_normal_ draws until no number is out of bounds, which what lies in memory may always be
            return args[0].zero_()
        drawn = func.__name__.endswith(("normal_", "uniform_"))  # kaiming_uniform_ and its like too
        return (args or tuple((kwargs or {}).values()))[0] if drawn else func(*args, **(kwargs or {}))


@contextmanager
def shapes_only() -> Iterator[None]:
    """Models that are made here have names and shapes but take no memory, and no random number is drawn for them.

    Without SkipInit, torch computes the shape of each draw in Python: a second for BERT large, twenty for DeepSeek-V3.
    """
    with torch.device("meta"), SkipInit():
        yield


def complete(model: Any, dtype: torch.dtype) -> None:
    """Fill in what no file holds: tables that the architecture computes, and the layers of a new head."""
    empty = {name for name, t in (*model.named_parameters(), *model.named_buffers()) if t.is_meta}
    if not empty:
        return
    with SkipInit():
        donor = type(model)(model.config, model.head)  # its large tensors are never written to, so they take no memory
    fresh = {name for name, p in model.named_parameters() if p.is_meta}
    for owner in map(donor.get_submodule, sorted({name.rpartition(".")[0] for name in fresh})):
        if hasattr(owner, "reset_parameters"):
            owner.reset_parameters()
    if hasattr(donor, "init_weights"):
        for path, module in reversed(list(donor.named_modules())):  # inner ones first, as `apply` does
            parts = {f"{path}.{name}" for name, _ in module.named_parameters()}
            if parts and parts <= fresh:
                donor.init_weights(module)
    for name in sorted(empty):
        _move(donor, model, name, dtype)


def _move(donor: nn.Module, model: nn.Module, name: str, dtype: torch.dtype) -> None:
    stem, _, last = name.rpartition(".")
    found = getattr(donor.get_submodule(stem), last).detach()
    found = found.to(dtype) if found.is_floating_point() else found
    owner, old = model.get_submodule(stem), getattr(model.get_submodule(stem), last)
    setattr(owner, last, nn.Parameter(found, old.requires_grad) if isinstance(old, nn.Parameter) else found)


def widest_dtype(weights: files.Tensors) -> torch.dtype:
    """The narrowest dtype that can hold the values of all floating-point tensors."""
    found = [tensor.dtype for tensor in weights.values() if tensor.is_floating_point()]
    return reduce(torch.promote_types, found, found[0]) if found else torch.float32


def floating(dtype: torch.dtype | str | None) -> torch.dtype:
    """The dtype with this name. Raises ValueError for one that is not a floating-point type."""
    found = torch.float32 if dtype is None else getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if not isinstance(found, torch.dtype) or not found.is_floating_point:
        raise ValueError(
            f"dtype={dtype!r} is not a floating-point type: pass torch.bfloat16, 'bfloat16', 'int8' or 'auto'"
        )
    return found
