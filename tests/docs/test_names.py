"""The modules of the autograder that the documents name exist."""

from __future__ import annotations

import importlib
import re
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"`(autograder(?:\.\w+)+)")


def exists(name: str) -> bool:
    """Whether this is a module, or an attribute of one."""
    owner, _, last = name.rpartition(".")
    try:
        return find_spec(name) is not None or hasattr(importlib.import_module(owner), last)
    except ModuleNotFoundError:
        return bool(owner) and owner != "autograder" and _has(owner, last)


def _has(owner: str, last: str) -> bool:
    module, _, name = owner.rpartition(".")
    return find_spec(module) is not None and hasattr(getattr(importlib.import_module(module), name, None), last)


def test_each_module_that_a_document_names_exists():
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}
    named = {name: path.name for path, text in texts.items() for name in NAME.findall(text)}
    assert "autograder.cluster.scores" in named
    assert {name: page for name, page in named.items() if not exists(name)} == {}


def test_a_module_that_is_gone_is_seen():
    assert not exists("autograder.report.scores") and exists("autograder.cluster.scores")
