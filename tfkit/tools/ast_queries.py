"""What the passes of `simplify` ask of a syntax tree: where names are defined and used, which expressions are
simple."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from .rewrite import Source

ROOTS = {"MODEL", "Config", "PRESETS"}
DUNDER = re.compile(r"__\w+__")
Function = ast.FunctionDef


def functions(source: Source) -> Iterator[Function]:
    """All functions and methods."""
    yield from (node for node in source.nodes if isinstance(node, ast.FunctionDef))


@lru_cache(maxsize=4096)
def names_in(node: ast.AST, context: type = ast.Load) -> Counter[str]:
    """How often each name is read (or written) in a piece of code. Cached, as several passes ask
    it of one tree."""
    return Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context))


def effective_statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """A block without its docstring and without `pass`."""
    found = [each for each in body if not isinstance(each, ast.Pass)]
    first = found[0] if found else None
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return found[1:] if is_text else found


def blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of a statement."""
    return [block for part in ("body", "orelse", "finalbody") if isinstance(block := getattr(node, part, None), list)]


@lru_cache(maxsize=1024)
def single_assignments(function: Function) -> dict[str, ast.Assign | ast.AnnAssign]:
    """The local names that are written once, by a statement of their own, outside loops and branches."""
    written = names_in(function, ast.Store)
    arguments = {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    found: dict[str, ast.Assign | ast.AnnAssign] = {}
    for each in function.body:
        target = each.targets[0] if isinstance(each, ast.Assign) and len(each.targets) == 1 else None
        target = each.target if isinstance(each, ast.AnnAssign) and each.value is not None else target
        if isinstance(target, ast.Name) and written[target.id] == 1 and target.id not in arguments:
            found[target.id] = each  # type: ignore[assignment]
    return found


@lru_cache(maxsize=1024)
def names_assigned_once(function: Function) -> set[str]:
    """The local names that are written once."""
    arguments = {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    return {name for name, count in names_in(function, ast.Store).items() if count == 1} - arguments


def is_reassigned_after(function: Function, made: ast.stmt, name: str) -> bool:
    """Whether a local name is written again after a statement."""
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) and n.lineno > made.lineno
        for n in ast.walk(function)
    )


def is_simple(node: ast.expr | None) -> bool:
    """Whether an expression is a name, a constant, or an attribute of one: cheap, and the same wherever it stands."""
    if isinstance(node, ast.Attribute):
        return is_simple(node.value)
    return isinstance(node, (ast.Name, ast.Constant))


def is_arithmetic(node: ast.expr) -> bool:
    """Whether an expression is arithmetic, a comparison or a plain conversion of simple values."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in (
            "bool",
            "int",
            "float",
            "getattr",
            "min",
            "max",
            "len",
        )
    parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    is_operation = isinstance(node, (ast.BinOp, ast.Compare, ast.BoolOp))
    return is_operation and all(is_simple(part) or is_arithmetic(part) for part in parts)


@lru_cache(maxsize=1)
def count_references(source: Source) -> Counter[str]:
    """How often each name of the top level is mentioned, in annotations in quotes too."""
    found = Counter(n.id for n in source.nodes if isinstance(n, ast.Name))
    for node in source.nodes:
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        for text in (n for n in ast.walk(annotation) if isinstance(n, ast.Constant)) if annotation is not None else ():
            found.update(re.findall(r"\w+", str(text.value)))
    return found


def names_defined_by(statement: ast.stmt) -> list[str]:
    """The names that a statement of the top level defines."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [n.id for t in targets if t is not None for n in ast.walk(t) if isinstance(n, ast.Name)]


@lru_cache(maxsize=1)
def count_attribute_reads(source: Source) -> Counter[str]:
    """How often each attribute is read, or named in a text, by which it may be read."""
    found = Counter(n.attr for n in source.nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))
    found.update(n.value for n in source.nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return found


def in_annotation(source: Source, node: ast.AST) -> bool:
    """Whether a name is part of an annotation."""
    while (above := source.parent.get(node)) is not None and isinstance(node, ast.expr):
        if getattr(above, "annotation", None) is node or getattr(above, "returns", None) is node:
            return True
        node = above
    return False


def is_super_call(node: ast.AST, name: str | None) -> bool:
    """Whether a node is `super().name(…)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    inner = node.func.value
    is_super = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "super"
    return is_super and (name is None or node.func.attr == name)


def parenthesise(source: Source, node: ast.expr) -> str:
    """The text of an expression, in brackets unless it holds together."""
    closed = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript, ast.Tuple, ast.List, ast.Dict)
    text = source.text(node)
    return text if isinstance(node, closed) else f"({text})"


def substitute(source: Source, node: ast.AST, texts: dict[str, str]) -> str:
    """The text of a node, with other texts in place of some names."""
    start, end = source.span(node)
    edits = [(*source.span(n), texts[n.id]) for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in texts]
    raw = source.raw[start:end]
    for first, last, text in sorted(edits, reverse=True):
        raw = raw[: first - start] + text.encode() + raw[last - start :]
    return raw.decode()
