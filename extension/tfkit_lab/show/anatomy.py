"""The structure of a model: modules, shapes, parameters; or of two models, with their differences."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import torch
from torch import nn

import tfkit
from tfkit import registry
from tfkit_lab.pictures import Picture, table
from tfkit_lab.widgets import STATIC


def anatomy(model: nn.Module | str, other: nn.Module | str | None = None, *, title: str = "") -> Anatomy:
    """model, other: modules, or the names of architectures or published sizes (no memory is allocated for
    their weights). Equal neighbours are shown once. Raises LookupError for an unknown name."""
    found = [(one, build_module(one)) for one in (model, other) if one is not None]
    names = [one if isinstance(one, str) else type(one).__name__ for one, _ in found]
    trees = [tree(name, module) for name, (_, module) in zip(names, found, strict=True)]
    head = {"schema": "tfkit.trace/1", "kind": "anatomy", "title": title or " → ".join(names)}
    return Anatomy({**head, "trees": trees})


def build_module(model: nn.Module | str) -> nn.Module:
    """The given module, or the architecture or published size of this name, without its weights.

    Raises LookupError for an unknown name.
    """
    if isinstance(model, nn.Module):
        return model
    own = model in tfkit.architectures()
    preset = (
        next(iter(registry.load(model).PRESETS), None) if own else None
    )  # an architecture: its first published size
    with torch.device("meta"):
        return tfkit.from_config(model, preset=preset)


def tree(name: str, module: nn.Module, alike: int = 1) -> dict[str, Any]:
    """A module with its submodules as a tree."""
    groups = (group for _, group in groupby(module.named_children(), key=lambda child: repr(child[1])))
    return {
        "name": name,
        "class": type(module).__name__,
        "parameters": sum(p.numel() for p in module.parameters()),
        "shapes": {n: list(p.shape) for n, p in module.named_parameters(recurse=False)},
        "alike": alike,
        "children": [merge_equal(group) for group in groups],
    }


def merge_equal(group: Any) -> dict[str, Any]:
    """Equal neighbours merged into one entry; `parameters` are those of each."""
    (first, module), *more = group
    return tree(first if not more else f"{first} … {more[-1][0]}", module, 1 + len(more))


class Anatomy(Picture):
    """The modules of one model or of two."""

    _esm = script = STATIC / "anatomy.js"

    def body(self) -> str:
        """A table for each tree, modules five levels deep."""
        return "".join(
            table(("module", "parameters", "class", "weights"), list_modules(tree, "")) for tree in self.trace["trees"]
        )


def list_modules(part: dict[str, Any], indent: str, depth: int = 4) -> list[tuple[str, int, str, str]]:
    """A row for each module, down to `depth` levels below this one: name, parameters, class, shapes of its weights."""
    shapes = "  ".join(f"{name}{shape}" for name, shape in part["shapes"].items())
    many = f" × {part['alike']}" if part["alike"] > 1 else ""
    line = (indent + part["name"] + many, part["parameters"], part["class"], shapes)
    below = [row for child in part["children"] for row in list_modules(child, indent + " ", depth - 1)] if depth else []
    return [line, *below]


VIEW = Anatomy
