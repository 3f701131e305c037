"""The dataset on disk: a folder or a zip file that holds the same. Reading it needs nothing but Python."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DESCRIPTION = "dataset.json"
EPOCH = (1980, 1, 1, 0, 0, 0)  # of every file in a zip file, so that equal contents make equal files
Row = dict[str, Any]


class DatasetError(ValueError):
    """The dataset cannot be written or read; the message says why, and what to do."""


def write(path: Path, texts: Mapping[str, str]) -> None:
    """Write the files into a folder that is new or empty, or into a new file that ends in .zip. Raises DatasetError."""
    refuse_existing(path)
    try:
        if path.suffix == ".zip":
            path.parent.mkdir(parents=True, exist_ok=True)
            with zipfile.ZipFile(path, "x") as archive:
                for name, text in texts.items():
                    archive.writestr(zipfile.ZipInfo(name, EPOCH), text, zipfile.ZIP_DEFLATED)
            return
        path.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (path / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DatasetError(f"{path} cannot be written: {error.strerror}") from error


def refuse_existing(path: Path) -> None:
    """Raise DatasetError if there is something already."""
    if path.exists() and (path.suffix == ".zip" or not path.is_dir() or any(path.iterdir())):
        raise DatasetError(f"{path} exists and is not empty: name a new folder, or a new file that ends in .zip")


def load(path: str | Path) -> dict[str, list[Row]]:
    """The tables of a dataset, by their names: answers, pairs, exercises, hunts, and blind if it has them.

    Raises DatasetError for what is no dataset, or has changed since it was written.
    """
    path = Path(path)
    try:
        described = json.loads(_bytes(path, DESCRIPTION))
        found = {name: _bytes(path, name) for name in described["sha256"]}
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise DatasetError(f"{path} is no dataset that `autograder benchmark export` wrote: {error}") from error
    for name, data in found.items():
        if hashlib.sha256(data).hexdigest() != described["sha256"][name]:
            raise DatasetError(f"{path}: {name} has changed since it was written: export or download it again")
    return {Path(name).stem: [json.loads(line) for line in data.splitlines()] for name, data in found.items()}


def _bytes(path: Path, name: str) -> bytes:
    if path.is_dir():
        return (path / name).read_bytes()
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)
