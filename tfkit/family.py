"""The family tree of the architectures, from the docstrings of their files, which nothing has to import.

A docstring has the lines `Parent`, `Differs` and `Trained`.
"""

from __future__ import annotations

import ast
import re
from importlib.util import find_spec

from . import registry


def docstrings() -> dict[str, str]:
    """Architecture -> the docstring of its file, read without importing it."""
    found = {}
    for name, source in registry.sources().items():
        spec = find_spec(source.partition(":")[0])
        if spec is not None and spec.origin:
            with open(spec.origin, encoding="utf-8") as file:
                found[name] = ast.get_docstring(ast.parse(file.read())) or ""
    return found


def parent(doc: str) -> str:
    """The first word after `Parent` in a docstring, or "none"."""
    return (docstring_field(doc, "Parent").split() or ["none"])[0].rstrip(":,")


def differs(doc: str) -> str:
    """The first difference that a docstring lists after `Differs`."""
    differences = "none" if docstring_field(doc, "Differs") == "none" else section(doc, "Differs")
    return re.split(r"(?<!et al)\. ", differences.partition(";")[0])[0].rstrip(".")


def docstring_field(doc: str, what: str) -> str:
    """The line after `Parent`, `Differs` or `Trained` in a docstring, or "none"."""
    lines = [row.removeprefix(what).strip() for row in doc.splitlines() if row.startswith(what + " ")]
    return lines[0] if lines else "none"


def section(doc: str, what: str) -> str:
    """The same, including its continuation lines."""
    rows = doc.splitlines()
    start = next(i for i, row in enumerate(rows) if row.startswith(what + " "))
    end = next((i for i in range(start + 1, len(rows)) if not rows[i].startswith(" ")), len(rows))
    return " ".join(row.removeprefix(what).strip() for row in rows[start:end])
