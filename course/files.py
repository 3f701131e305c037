"""Writing what is built."""

from __future__ import annotations

from pathlib import Path


def write_if_new(path: Path, text: str) -> bool:
    """Replace the file at once by one with this text, unless it has it already; whether that was necessary."""
    if path.exists() and path.read_bytes() == text.encode():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_bytes(text.encode())
        new.replace(path)  # replaces the file atomically
    finally:
        new.unlink(missing_ok=True)
    return True
