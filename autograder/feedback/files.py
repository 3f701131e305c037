"""Writes new files atomically, so that no reader finds half a file, and no empty file is left behind."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


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
