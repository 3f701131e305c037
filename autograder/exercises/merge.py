"""Makes two edits of one program together where lines cannot tell them apart: by their trees.

`-x.mean()` from `x.mean()` by the one edit and `x.sum()` by the other become `-x.sum()`. Where one edit puts something
around what the other changes, the changed part takes its place there.
"""

from __future__ import annotations

import ast
import copy
import difflib
import itertools
from contextlib import suppress
from functools import lru_cache
from typing import Any

from autograder.exercises.parse import same_code

Block = tuple[int, int, list[Any]]  # from, to (excluded) in the base, and what stands there instead


class CannotMerge(ValueError):
    """Both edits change the same thing, each in its own way."""


def merge_sources(base: str, one: str, other: str) -> str | None:
    """The program with both edits of `base` made, without docstring and comments; None where they can't both be."""
    try:
        merged = _merged(*(_parsed(text) for text in (base, one, other)))
    except CannotMerge:
        return None
    return ast.unparse(ast.fix_missing_locations(merged)) + "\n"


@lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module:
    """The tree without docstring, which nobody changes."""
    tree = ast.parse(text)
    return ast.Module(tree.body[1:] if ast.get_docstring(tree) is not None else tree.body, [])


def _key(node: Any) -> str:
    if isinstance(node, list):
        return f"[{', '.join(map(_key, node))}]"
    return ast.dump(node) if isinstance(node, ast.AST) else repr(node)


def _merged(base: Any, one: Any, other: Any) -> Any:
    """What differs from the base in one of both differs from it in the result."""
    if same_code(one, base):
        return other
    if same_code(other, base) or same_code(one, other):
        return one
    if all(isinstance(node, list) for node in (base, one, other)):
        return _merged_list(base, one, other)
    if not all(isinstance(node, ast.AST) for node in (base, one, other)):
        raise CannotMerge("both edits change one name or number")
    if type(one) is type(base) is type(other):
        with suppress(CannotMerge):  # one of them may be around the other
            return _merged_fields(base, one, other)
    return _around(base, one, other)


def _merged_fields(base: ast.AST, one: ast.AST, other: ast.AST) -> ast.AST:
    new = copy.copy(base)
    for name in base._fields:
        setattr(new, name, _merged(*(getattr(node, name, None) for node in (base, one, other))))
    return new


def _around(base: ast.AST, one: ast.AST, other: ast.AST) -> ast.AST:
    """One of both with the other in the place of the base, which it must contain once."""
    for outer, inner in ((one, other), (other, one)):
        replacing = _Replacing(base, inner)
        made = replacing.visit(copy.deepcopy(outer))
        if replacing.places == 1:
            return made
    raise CannotMerge("both edits change one expression")


class _Replacing(ast.NodeTransformer):
    """Puts a node in the place of those that equal another."""

    def __init__(self, wanted: ast.AST, inner: ast.AST) -> None:
        self.wanted, self.inner, self.places = wanted, inner, 0

    def visit(self, node: ast.AST) -> Any:
        """The node, or what takes its place."""
        if same_code(node, self.wanted):
            self.places += 1
            return self.inner
        return self.generic_visit(node)


def _merged_list(base: list[Any], one: list[Any], other: list[Any]) -> list[Any]:
    if len(base) == len(one) == len(other):
        return [_merged(*nodes) for nodes in zip(base, one, other, strict=True)]
    blocks = sorted([*_blocks(base, one), *_blocks(base, other)], key=lambda block: block[:2])
    for first, second in itertools.pairwise(blocks):
        at_one_place = first[0] == second[0] and (first[0] == first[1]) == (second[0] == second[1])
        if second[0] < first[1] or at_one_place:
            raise CannotMerge("both edits change one block of lines")
    made = list(base)
    for start, end, nodes in reversed(blocks):
        made[start:end] = nodes
    return made


def _blocks(base: list[Any], changed: list[Any]) -> list[Block]:
    matcher = difflib.SequenceMatcher(None, [*map(_key, base)], [*map(_key, changed)], autojunk=False)
    return [(i1, i2, changed[j1:j2]) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"]
