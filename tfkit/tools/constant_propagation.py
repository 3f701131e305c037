"""Constant propagation from an observed run: expressions that always had one value are replaced by it."""

from __future__ import annotations

import ast
from typing import Any

from .observe import Observations, Value
from .rewrite import Source

FOLDABLE = {"NoneType", "bool", "str", "empty"}  # kinds of values that are put in
TENSOR_ATTRIBUTES = {"requires_grad", "is_cuda", "device", "dtype", "training", "type", "grad", "shape", "ndim"}
LOOKUPS = {"getattr", "bool", "isinstance", "hasattr", "get_activation"}


def propagate_constants(source: Source, observations: Observations) -> str:
    """Replaces attributes and look-ups that always had one value, and what a call always instantiates."""
    for node in source.nodes:
        index = source.index[node]
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr not in TENSOR_ATTRIBUTES:
            kinds = FOLDABLE - {"empty"} if is_container(source, node) else FOLDABLE
            replace_by_constant(source, node, observations.constant(index), kinds)
        elif isinstance(node, ast.Subscript) and is_table_lookup(node):
            replace_by_constant(source, node, observations.constant(index), {"symbol"})
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name in LOOKUPS or not (node.args or node.keywords or isinstance(source.parent[node], ast.Expr)):
                replace_by_constant(source, node, observations.constant(index), FOLDABLE | {"symbol"})
            if isinstance(node.func, (ast.Subscript, ast.Attribute)) and "_CLASSES" in source.text(node.func):
                replace_by_constant(source, node.func, observations.constant(source.index[node.func]), {"symbol"})
            elif isinstance(node.func, (ast.Subscript, ast.Attribute)):
                found = observations.constant(source.index[node.func])
                if found and "." not in str(found[1]) and str(found[1])[:1].isupper():
                    replace_by_constant(source, node.func, found, {"symbol"})
            remove_empty_stars(source, observations, [*node.args, *node.keywords])
        elif isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
            remove_empty_stars(source, observations, node.elts)
        elif isinstance(node, ast.Dict):
            remove_empty_dict_stars(source, observations, node)
    return source.apply()


def is_container(source: Source, node: ast.expr) -> bool:
    """Whether an expression is what a subscript reads or writes: empty once, it may hold something the next time."""
    parent = source.parent[node]
    return isinstance(parent, ast.Subscript) and parent.value is node


def is_table_lookup(node: ast.Subscript) -> bool:
    """Whether an expression reads a constant key of a table of the file, such as `ACTIVATIONS["relu"]`."""
    is_table = isinstance(node.value, ast.Name) and node.value.id.isupper()
    return is_table and isinstance(node.slice, ast.Constant) and isinstance(node.ctx, ast.Load)


def replace_by_constant(source: Source, node: ast.expr, value: Value | None, kinds: set[str]) -> None:
    """Replaces an expression by its only value, if that is of one of these kinds."""
    if (
        value is None
        or value[0] not in kinds
        or isinstance(source.parent[node], ast.Call)
        and (
            source.parent[node].func is node and value[0] != "symbol"  # type: ignore[attr-defined]
        )
    ):
        return
    text = f'"{value[1]}"' if value[0] == "str" else str(value[1])
    source.replace(node, text)


def remove_empty_stars(source: Source, observations: Observations, elements: list[Any]) -> None:
    """Removes `*` and `**` of what is always empty."""
    empty = []
    for each in elements:
        inner = each.value if isinstance(each, ast.Starred) or getattr(each, "arg", "") is None else None
        if inner is not None and is_always_empty(source, observations, inner):
            empty.append(each)
    if empty:
        source.remove_elements(elements, empty)


def is_always_empty(source: Source, observations: Observations, node: ast.expr) -> bool:
    """Whether an expression was always an empty list, tuple or dictionary."""
    found = observations.constant(source.index[node])
    return bool(found and found[0] == "empty") or source.text(node) in ("{}", "()", "[]")


def remove_empty_dict_stars(source: Source, observations: Observations, node: ast.Dict) -> None:
    """Removes `**` of what is always empty from a dictionary."""
    kept = [(key, value) for key, value in zip(node.keys, node.values, strict=True)]
    left = [(k, v) for k, v in kept if not (k is None and is_always_empty(source, observations, v))]
    if len(left) < len(kept):
        items = (f"{source.text(k)}: {source.text(v)}" if k else f"**{source.text(v)}" for k, v in left)
        source.replace(node, "{" + ", ".join(items) + "}")
