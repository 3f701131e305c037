"""Tensors from a directory and to it: one safetensors file, or many with an index; pytorch_model.bin is read only.

Files come from strangers. None of them is run (`weights_only`), none outside the directory is opened, and what is
damaged, cut off or claims to be more than it holds is refused in one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

CONFIG, WEIGHTS, OLD_WEIGHTS = "config.json", "model.safetensors", "pytorch_model.bin"
SHARD_BYTES = 5 * 10**9
Tensors = dict[str, torch.Tensor]


def read_json(file: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises ValueError for anything else."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file}: holds {type(found).__name__}, not an object")
    return found


def read(directory: Path) -> tuple[Path, Tensors]:
    """-> the file (or the index of the files) that was read, and its tensors, on the CPU.

    Raises FileNotFoundError, or ValueError for what is damaged, refused, or not as the index says.
    """
    readers: dict[str, Callable[[Path], Tensors]] = {WEIGHTS: _read_safe, OLD_WEIGHTS: _read_pickled}
    for name, reader in readers.items():
        file, index = directory / name, directory / f"{name}.index.json"
        if file.is_file():
            return file, reader(file)
        if index.is_file():
            return index, _read_shards(index, reader)
    raise FileNotFoundError(f"{directory / WEIGHTS}: not found, nor its index, nor {OLD_WEIGHTS}")


def _read_shards(index: Path, reader: Callable[[Path], Tensors]) -> Tensors:
    places = read_json(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise ValueError(f"{index}: has no weight_map")
    found: Tensors = {}
    for name in sorted(map(str, set(places.values()))):
        if not re.fullmatch(r"[\w-][\w.-]*", name):  # "../elsewhere", "/etc/…"
            raise ValueError(f"{index}: {name!r} is not the name of a file beside it")
        file = index.parent / name
        if not file.is_file():
            raise FileNotFoundError(f"{index}: {name}, which it names, is not there")
        tensors = reader(file)
        promised = {tensor for tensor, place in places.items() if place == name}
        if differs := sorted(promised ^ tensors.keys()):
            where = "the index only" if differs[0] in promised else f"{name} only"
            raise ValueError(f"{index}: {differs[0]} is in {where}; index and file must agree")
        found |= tensors
    return found


def _read_safe(file: Path) -> Tensors:
    try:
        return load_file(file)
    except (SafetensorError, ValueError, KeyError, RuntimeError) as error:
        raise ValueError(f"{file}: damaged or cut off ({_line(error)})") from None


def _read_pickled(file: Path) -> Tensors:
    try:
        found = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # bytes made by a stranger may fail in any way
        if wanted := re.search(r"(?:GLOBAL|global|class) (\w+(?:\.\w+)+)", str(error)):
            raise ValueError(f"{file}: refused: it asks for {wanted[1]}, and may hold tensors only") from None
        raise ValueError(f"{file}: damaged or cut off ({type(error).__name__})") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file}: holds {type(found).__name__}, not tensors by name")
    for name, tensor in found.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
            raise ValueError(f"{file}: {name!r} is not a plain tensor")
        if tensor.nbytes > tensor.untyped_storage().nbytes():  # a view that repeats itself, as large as one likes
            raise ValueError(f"{file}: {name} claims {list(tensor.shape)}, more than the file holds")
    return dict(found)


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


def write(weights: Tensors, directory: Path, shard_bytes: int = SHARD_BYTES) -> None:
    """One file, or, where it would be larger than `shard_bytes`, several and an index. What an earlier call left under
    these names is removed. A tensor is never cut: one that is larger has a file of its own."""
    for old in (*directory.glob("model-*-of-*.safetensors"), directory / f"{WEIGHTS}.index.json"):
        old.unlink(missing_ok=True)
    shards = _packed({name: tensor.contiguous() for name, tensor in weights.items()}, shard_bytes)
    if len(shards) == 1:
        save_file(shards[0], directory / WEIGHTS, metadata={"format": "pt"})
        return
    (directory / WEIGHTS).unlink(missing_ok=True)
    places: dict[str, str] = {}
    for number, shard in enumerate(shards, 1):
        name = f"model-{number:05}-of-{len(shards):05}.safetensors"
        save_file(shard, directory / name, metadata={"format": "pt"})
        places |= dict.fromkeys(shard, name)
    total = sum(tensor.nbytes for tensor in weights.values())
    index = {"metadata": {"total_size": total}, "weight_map": places}
    (directory / f"{WEIGHTS}.index.json").write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")


def _packed(weights: Tensors, room: int) -> list[Tensors]:
    shards: list[Tensors] = [{}]
    used = 0
    for name, tensor in weights.items():
        if shards[-1] and used + tensor.nbytes > room:
            shards.append({})
            used = 0
        shards[-1][name] = tensor
        used += tensor.nbytes
    return shards
