"""The differences between two architectures: in configuration, modules and code."""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import MISSING, fields
from typing import Any

from .. import registry
from .flatten import ROOTS, dependencies
from .symbols import Symbol, found_in, parse_module

Change = tuple[str, Any, Any]  # a name, the value in the first, the value in the second; None: absent


def changes(one: dict[str, Any], other: dict[str, Any]) -> list[Change]:
    """The entries whose values differ, in the order of the first dictionary."""
    return [(key, one.get(key), other.get(key)) for key in {**one, **other} if one.get(key) != other.get(key)]


def settings(name: str) -> dict[str, str]:
    """The fields of an architecture's Config, with their defaults."""
    found = {}
    for field in fields(registry.load(name).Config):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        found[field.name] = "needed" if default is MISSING else repr(default)
    return found


def modules(name: str) -> dict[str, str]:
    """Path -> class and shapes of every module that has parameters itself, in the first published size (or the
    default); numbered paths that are alike are merged. No memory is taken for weights."""
    from ..hub.loading import shapes_only

    module = registry.load(name)
    preset: dict = next(iter(module.PRESETS.values()), {})
    with shapes_only():
        model = module.MODEL(module.Config(**preset))
    found: dict[str, str] = {}
    for path, part in model.named_modules():
        shapes = ", ".join(f"{n} {list(p.shape)}" for n, p in part.named_parameters(recurse=False))
        if shapes:
            found[re.sub(r"\b\d+\b", "*", path) or "(itself)"] = f"{type(part).__name__}: {shapes}"
    return found


def code(name: str) -> dict[Symbol, str]:
    """The source of every part that the architecture uses. Raises ValueError as `flatten` does."""
    first = registry.sources()[name]
    roots = [found for root in ROOTS if (found := found_in(first, root))]
    symbols = dependencies(roots, head=None, plain={})
    return {symbol: source(symbol) for symbol in symbols if symbol[1] not in ("PRESETS", "MODEL")}


def source(symbol: Symbol) -> str:
    """The source text of a symbol, including all its definitions."""
    module = parse_module(symbol[0])
    parts = [ast.get_source_segment(module.text, statement) or "" for statement in module.symbols[symbol[1]]]
    return "\n".join(parts)


def rewrite(one: str, other: str) -> list[tuple[str, str, str]]:
    """Title, text and language of every part in which two architectures differ: a diff if both have a part of that
    name, the part itself if only one has it."""
    left, right = code(one), code(other)
    old = {symbol[1]: (symbol[0], text) for symbol, text in left.items() if symbol not in right}
    new = {symbol[1]: (symbol[0], text) for symbol, text in right.items() if symbol not in left}
    found = []
    for name in {**old, **new}:
        if name in old and name in new:
            (a, before), (b, after) = old[name], new[name]
            lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]
            found.append((f"{name}: {stem(a)} → {stem(b)}", "\n".join(lines), "diff"))
        else:
            place, text = old.get(name) or new[name]
            found.append((f"{name}: {stem(place)} ({one if name in old else other} alone)", text, "python"))
    return found


def stem(module: str) -> str:
    """A module's dotted name without the prefix that all modules share."""
    return module.removeprefix("tfkit.").removeprefix("models.")
