"""Reads tensors from a directory and writes them: one safetensors file, or several with an index; pytorch_model.bin is
read only.

The files are not trusted. No code in them is executed (`weights_only`); no file outside the directory is opened,
whether by name or by link, except for the blobs that huggingface_hub's cache keeps beside its snapshots; and a file
that is damaged, truncated, compressed or claims more than it holds is refused in one line.
"""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

CONFIG, WEIGHTS, OLD_WEIGHTS = "config.json", "model.safetensors", "pytorch_model.bin"
SHARD_BYTES = 5 * 10**9
Tensors = dict[str, torch.Tensor]


def require_path(name: str, given: Any) -> Path:
    """The argument called `name` as a path. Raises TypeError if it is not one."""
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"{name}={given!r}: give the path of a model's folder")
    return Path(given)


def existing_directory(directory: Any) -> Path:
    """A directory to read. Raises FileNotFoundError with a hint on how to get a published one; NotADirectoryError."""
    path = require_path("directory", directory)
    if path.is_file():
        raise NotADirectoryError(f"directory={str(path)!r} is a file: give the folder that holds it")
    if not path.is_dir():
        get = f"; nothing is downloaded: get it with `hf download {path} --local-dir {path}`, or see `tfkit get`"
        published = len(path.parts) <= 2 and not path.is_absolute() and path.parts[:1] not in ((), ("..",))
        raise FileNotFoundError(f"directory={str(path)!r}: there is no such folder{get if published else ''}")
    return path


def read_config(directory: Path) -> dict[str, Any]:
    """The object in a directory's config.json. Raises FileNotFoundError if there is none, or no such directory;
    NotADirectoryError; ValueError for a file that holds anything else."""
    file = existing_directory(directory) / CONFIG
    if not file.is_file():
        raise FileNotFoundError(f"{file}: not found; a model's directory holds {CONFIG} and {WEIGHTS}")
    return read_json(file)


def read_json(file: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises ValueError if the file holds anything else."""
    try:
        found = json.loads(require_inside(file).read_text(encoding="utf-8"), parse_constant=_parse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file}: holds {type(found).__name__}, not an object")
    return found


def _parse_constant(text: str) -> dict[str, str]:
    """transformers 4.x writes Infinity where 5.x writes {"__float__": "Infinity"}; only a field that may be infinite
    accepts that (Mamba-2's time_step_limit)."""
    if text == "Infinity":
        return {"__float__": text}
    raise ValueError(f"{text} is not a number")


def require_inside(file: Path) -> Path:
    """The file, if it lies inside its directory. Raises ValueError for a link that leads out of it."""
    home = file.parent.resolve()
    allowed = [home, home.parent.parent / "blobs"] if home.parent.name == "snapshots" else [home]  # the hub's cache
    if file.is_symlink() and file.resolve().parent not in allowed:
        raise ValueError(f"{file}: refused: a link to {file.resolve()}, outside its directory")
    return file


def read(directory: Path) -> tuple[Path, Tensors]:
    """-> the file (or the index of the files) that was read, and its tensors, on the CPU.

    Raises FileNotFoundError, or ValueError for a file that is damaged, refused, or does not match the index.
    """
    readers: dict[str, Callable[[Path], Tensors]] = {WEIGHTS: read_safe, OLD_WEIGHTS: _read_pickled}
    for name, reader in readers.items():
        file, index = directory / name, directory / f"{name}.index.json"
        if file.is_file():
            return file, reader(require_inside(file))
        if index.is_file():
            return index, _read_shards(index, reader)
    raise FileNotFoundError(f"{directory / WEIGHTS}: not found, nor its index, nor {OLD_WEIGHTS}")


def _read_shards(index: Path, reader: Callable[[Path], Tensors]) -> Tensors:
    weight_map = read_json(require_inside(index)).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise ValueError(f"{index}: has no weight_map")
    if odd := next((tensor for tensor, file_name in weight_map.items() if not isinstance(file_name, str)), None):
        raise ValueError(f"{index}: weight_map names {type(weight_map[odd]).__name__} for {odd}, not a file")
    found: Tensors = {}
    for name in _with_progress(sorted(set(weight_map.values()))):
        if not re.fullmatch(r"[\w-][\w.-]*", name):  # "../elsewhere", "/etc/…"
            raise ValueError(f"{index}: {name!r} is not the name of a file beside it")
        file = index.parent / name
        if not file.is_file():
            raise FileNotFoundError(f"{index}: {name}, which it names, is not there")
        tensors = reader(require_inside(file))
        promised = {tensor for tensor, file_name in weight_map.items() if file_name == name}
        if differs := sorted(promised ^ tensors.keys()):
            where = "the index only" if differs[0] in promised else f"{name} only"
            raise ValueError(f"{index}: {differs[0]} is in {where}; index and file must agree")
        found |= tensors
    return found


def _with_progress(names: list[str]) -> Iterable[str]:
    """The names, with a progress bar if there are many and the output is a terminal."""
    if len(names) < 4 or not sys.stderr.isatty():
        return names
    from rich.console import Console
    from rich.progress import track

    return track(names, "reading shards", console=Console(stderr=True), transient=True)


def read_safe(file: Path) -> Tensors:
    try:
        return load_file(file)
    except (SafetensorError, ValueError, KeyError, RuntimeError) as error:
        raise ValueError(f"{file}: damaged or cut off ({_line(error)})") from None


def _plain_zip(file: Path) -> bool:
    """Whether a file is a zip archive as torch writes it. Raises ValueError if it would unpack to more than its
    size."""
    if not zipfile.is_zipfile(file):
        return False
    with zipfile.ZipFile(file) as parts:
        sizes = [(part.compress_type, part.file_size) for part in parts.infolist()]
    if any(kind != zipfile.ZIP_STORED for kind, _ in sizes) or sum(size for _, size in sizes) > file.stat().st_size:
        raise ValueError(f"{file}: refused: it is compressed, which torch.save never does")
    return True


def _read_pickled(file: Path) -> Tensors:
    try:
        zipped = _plain_zip(file)
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise ValueError(f"{file}: damaged or cut off ({_line(error)})") from None
    try:
        found = torch.load(file, map_location="cpu", weights_only=True, mmap=zipped)
    except Exception as error:  # a malicious file may raise any exception
        if wanted := re.search(r"(?:GLOBAL|global|class) (\w+(?:\.\w+)+)", str(error)):
            raise ValueError(f"{file}: refused: it asks for {wanted[1]}, but only tensors are allowed") from None
        raise ValueError(f"{file}: damaged or cut off ({type(error).__name__})") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file}: holds {type(found).__name__}, not tensors by name")
    for name, tensor in found.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
            raise ValueError(f"{file}: {name!r} is not a plain tensor")
        if tensor.nbytes > tensor.untyped_storage().nbytes():  # an expanded view, which can claim any size
            raise ValueError(f"{file}: {name} claims {list(tensor.shape)}, more than the file holds")
    return dict(found)


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


def size_in_bytes(given: int | str) -> int:
    """5_000_000_000, or "5GB" as transformers writes it (powers of ten; "5GiB": powers of two). Raises ValueError for
    other text."""
    text = given.strip().upper() if isinstance(given, str) else ""
    if found := re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT]?)(I?)B", text):
        factor = (1024 if found[3] else 1000) ** " KMGT".index(found[2] or " ")
        given = int(float(found[1]) * factor)
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ValueError(f"max_shard_size={given!r} is not a size: give bytes, or a number with KB, MB, GB or TB")
    return given


def write(weights: Tensors, directory: Path, shard_bytes: int = SHARD_BYTES) -> None:
    """Write one file or, if it would be larger than `shard_bytes`, several with an index. Files that an earlier call
    left under these names are removed. A tensor is never split: one that is larger has a file of its own.

    A file gets its final name only when it is complete: a model may be saved over the file that its weights are mapped
    from, and a write that fails leaves the old files as they were."""
    shards = _split_into_shards(weights, shard_bytes)
    many = len(shards) > 1
    files = [f"model-{at:05}-of-{len(shards):05}.safetensors" if many else WEIGHTS for at in range(1, len(shards) + 1)]
    try:
        for name, shard in zip(files, shards, strict=True):
            whole = {key: tensor.contiguous() for key, tensor in shard.items()}
            save_file(whole, directory / f"{name}.part", metadata={"format": "pt"})
    except BaseException:
        for name in files:
            (directory / f"{name}.part").unlink(missing_ok=True)
        raise
    for name in files:
        os.replace(directory / f"{name}.part", directory / name)
    stale = {*directory.glob("model-*-of-*.safetensors"), directory / WEIGHTS, directory / f"{WEIGHTS}.index.json"}
    for old in stale - {directory / name for name in files}:
        old.unlink(missing_ok=True)
    if many:
        _write_index(directory, dict(zip(files, shards, strict=True)))


def _write_index(directory: Path, shards: dict[str, Tensors]) -> None:
    weight_map = {tensor: name for name, shard in shards.items() for tensor in shard}
    total = sum(tensor.nbytes for shard in shards.values() for tensor in shard.values())
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (directory / f"{WEIGHTS}.index.json").write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")


def _split_into_shards(weights: Tensors, room: int) -> list[Tensors]:
    shards: list[Tensors] = [{}]
    used = 0
    for name, tensor in weights.items():
        if shards[-1] and used + tensor.nbytes > room:
            shards.append({})
            used = 0
        shards[-1][name] = tensor
        used += tensor.nbytes
    return shards
