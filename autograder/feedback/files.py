"""Writes files atomically, so that no reader finds half a file, and no empty file is left behind."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_new(path: Path, content: str | bytes) -> None:
    """Write the new file `path`. Raises FileExistsError without changing it, or OSError without leaving a file."""
    data = content.encode() if isinstance(content, str) else content
    if os.path.lexists(path):
        raise FileExistsError(None, "exists", str(path))
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        _give_name(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def replace_text(path: Path, text: str, mode: int = 0o644) -> None:
    """Write the file, with the folder it is in, in the place of the one that may be there. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def replace_json(path: Path, whole: Mapping[str, Any], mode: int = 0o644) -> None:
    """Write the object as JSON, as `replace_text` does; by default instructors can read it. Raises OSError."""
    replace_text(path, json.dumps(whole, indent=1), mode)


def _give_name(temporary: str, path: Path) -> None:
    """Link the file to `path`, which fails if `path` exists by now; not all file systems support links."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        os.replace(temporary, path)
    else:
        os.unlink(temporary)


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
