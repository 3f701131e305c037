"""The tree of a model's modules, with shapes and parameter counts: under our names, or under those of published files.

`tfkit anatomy NAME` prints our names, `tfkit anatomy NAME --names hf` the published ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import prod
from typing import Any, NamedTuple

from ..namemap import map_of


class Row(NamedTuple):
    """One line of the tree: indented name; number of parameters; class (empty if only names are known); shapes."""

    name: str
    parameters: int
    kind: str
    shapes: str


def parts(name: str, module: Any, depth: int, indent: str = "") -> Iterator[Row]:
    """One row for a module and each module inside it. Neighbours that are alike share a row."""
    count = sum(p.numel() for p in module.parameters())
    shapes = "  ".join(f"{n}{list(p.shape)}" for n, p in module.named_parameters(recurse=False))
    yield Row(indent + name, count, type(module).__name__, shapes)
    if depth > 0:
        for _, alike in groupby(module.named_children(), key=lambda child: repr(child[1])):
            (first, child), *more = alike
            yield from parts(_title(first, [name for name, _ in more]), child, depth - 1, indent + "  ")


def published_tensors(model: Any, architecture: Any) -> dict[str, list[int]]:
    """The tensors in a published file of this model: name -> shape, in the order of our modules; tensors that are
    stored twice are counted twice. Raises ValueError for an architecture that was never published with tensor names of
    its own.
    """
    if not hasattr(architecture, "HF"):
        raise ValueError(f"{type(model).__name__} has no published names: leave out --names hf")
    with_head = getattr(model, "head", None) is not None
    found = map_of(model, architecture.HF).dump(
        dict(model.named_parameters(remove_duplicate=False)), with_head=with_head
    )
    return {name: list(tensor.shape) for name, tensor in found.items()}


def published_parts(name: str, tensors: dict[str, list[int]], depth: int, indent: str = "") -> Iterator[Row]:
    """The same tree from the tensor names of a file: every prefix up to a dot is a module. A file names no classes."""
    own = {key: shape for key, shape in tensors.items() if "." not in key}
    shapes = "  ".join(f"{key}{shape}" for key, shape in own.items())
    yield Row(indent + name, sum(prod(shape) for shape in tensors.values()), "", shapes)
    if depth > 0:
        below: dict[str, dict[str, list[int]]] = {}
        for key, shape in tensors.items():
            stem, dot, rest = key.partition(".")
            if dot:
                below.setdefault(stem, {})[rest] = shape
        for _, alike in groupby(below.items(), key=lambda child: (child[0].isdigit() or child[0], child[1])):
            (first, child), *more = alike
            yield from published_parts(_title(first, [name for name, _ in more]), child, depth - 1, indent + "  ")


def _title(first: str, others: list[str]) -> str:
    return first if not others else f"{first} … {others[-1]}  ({len(others) + 1} alike)"
