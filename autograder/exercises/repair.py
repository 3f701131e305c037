"""Undoes known edits in code that a student wrote: the repaired program that a box then runs.

An edit is the difference between the trees of a right answer and of the same answer with a mistake. Its wrong side is
looked for in the student's tree, with variables that may be called otherwise, first with the whole statement around
it, then with less and less. Where it stands, the right side takes its place, with the student's names.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeGuard

from autograder.exercises.parse import parse_source, same_code, stored_names

MAX_PLACES = 3  # places of one edit that are tried
FIXED = frozenset({"torch", "nn", "F", "math", "np", "self", *dir(builtins)})  # names that mean the same everywhere
COMPOUND = (ast.Module, ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.If, ast.With, ast.Try)
SPECIFIC = (ast.Call, ast.keyword, ast.BinOp, ast.Compare, ast.Subscript, ast.Attribute)
IGNORED = ("annotation", "returns", "type_comment", "kind", "ctx", "type_params")

Chain = list[tuple[list[ast.AST], list[ast.AST]]]  # the same edit with less and less around it: wrong, right


@dataclass(frozen=True)
class TreeEdit:
    """One place that differs: the wrong nodes with the right ones, first with all of the statement around them."""

    chain: tuple[tuple[tuple[ast.AST, ...], tuple[ast.AST, ...]], ...]


def tree_differences(right: str, wrong: str) -> list[TreeEdit]:
    """The places in which the trees of two programs differ, docstrings apart."""
    return [
        TreeEdit(tuple((tuple(w), tuple(r)) for w, r in chain)) for chain in _body_chains(_tree(right), _tree(wrong))
    ]


def repairs(source: str, right: str, wrong: str) -> Iterator[str]:
    """Versions of `source` in which the edits from `right` to `wrong` are undone; none where that cannot be done."""
    places = tree_differences(right, wrong)
    try:
        yield from (ast.unparse(ast.fix_missing_locations(one)) for one in _undone(_tree(source), places))
    except (SyntaxError, RecursionError):  # the deepest trees that can be parsed cannot be walked
        return


def _undone(tree: ast.Module, places: Sequence[TreeEdit]) -> Iterator[ast.Module]:
    """The trees in which every one of these edits is undone."""
    if not places:
        yield tree
        return
    for one in _undone_once(tree, places[0]):
        yield from _undone(one, places[1:])


def _undone_once(tree: ast.Module, edit: TreeEdit) -> Iterator[ast.Module]:
    """The trees with one edit undone, of the widest context that is found in the student's tree."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | _arguments(tree)
    for wrong, right in filter(lambda pair: is_specific(pair[0]), edit.chain):
        found = (place for place in _places(tree, len(wrong)) if match(wrong, place.nodes()) is not None)
        swapped = (place.swap(tree, wrong, right, names) for place in islice(found, MAX_PLACES))
        made = [done for done in swapped if done is not None]
        if made:
            yield from made
            return


def _arguments(tree: ast.AST) -> set[str]:
    return {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


@dataclass(frozen=True)
class NodeSpan:
    """Consecutive nodes in a field of `holder`: `count` of them from `at` on, or the one of a field that is no list."""

    holder: ast.AST
    field: str
    at: int | None  # None: the field is no list
    count: int

    def nodes(self) -> list[ast.AST]:
        """The nodes there."""
        value = getattr(self.holder, self.field)
        return [value] if self.at is None else value[self.at : self.at + self.count]

    def swap(
        self, tree: ast.Module, wrong: Sequence[ast.AST], right: Sequence[ast.AST], names: set[str]
    ) -> ast.Module | None:
        """A copy of the tree with the right nodes there, in the student's names; None if a name has no counterpart."""
        theirs = match(wrong, self.nodes()) or {}
        instead = [with_names(node, theirs) for node in right]
        needed = {node.id for one in instead for node in ast.walk(one) if isinstance(node, ast.Name)}
        if not needed <= names | FIXED | {name for one in instead for name in stored_names(one)}:
            return None
        copies: dict[int, ast.AST] = {}
        made = copy.deepcopy(tree, copies)
        holder = copies[id(self.holder)]
        if self.at is not None:
            getattr(holder, self.field)[self.at : self.at + self.count] = instead
        elif len(instead) == 1:
            setattr(holder, self.field, instead[0])
        else:
            return None
        return made


def _places(tree: ast.AST, count: int) -> Iterator[NodeSpan]:
    """Every place with so many nodes, in the order of the code. No recursion: it would cost the depth at each place."""
    waiting: list[ast.AST | NodeSpan] = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, NodeSpan):
            yield one
        else:
            waiting += reversed([*_within(one, count)])


def _within(node: ast.AST, count: int) -> Iterator[ast.AST | NodeSpan]:
    """The places in this node's own fields, each field's before the nodes in it."""
    for field, value in ast.iter_fields(node):
        if field in IGNORED:
            continue
        if isinstance(value, ast.AST):
            if count == 1:
                yield NodeSpan(node, field, None, 1)
            yield value
        elif isinstance(value, list):
            yield from (NodeSpan(node, field, at, count) for at in range(len(value) - count + 1))
            yield from (one for one in value if isinstance(one, ast.AST))


# -- what differs ------------------------------------------------------------------------------------------------------


def _tree(source: str) -> ast.Module:
    tree = parse_source(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]) and len(body) > isinstance(node, ast.FunctionDef):
            del body[0]
    return tree


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _body_chains(right: ast.AST, wrong: ast.AST) -> list[Chain]:
    """What differs between two nodes of a kind, each with the nodes around it."""
    return _list_chains([right], [wrong]) if not same_code(right, wrong) else []


def _list_chains(right: list[ast.AST], wrong: list[ast.AST]) -> list[Chain]:
    start = 0
    while start < min(len(right), len(wrong)) and same_code(right[start], wrong[start]):
        start += 1
    end = 0
    while end < min(len(right), len(wrong)) - start and same_code(right[-1 - end], wrong[-1 - end]):
        end += 1
    old, new = right[start : len(right) - end], wrong[start : len(wrong) - end]
    if len(old) == len(new):
        return [chain for pair in zip(old, new, strict=True) for chain in _node_chains(*pair)]
    if not new:  # what is missing goes behind the line before it, or before the one after it
        return [_with_neighbour(right, start, len(right) - end)]
    return [[(new, old)]]


def _with_neighbour(right: list[ast.AST], start: int, stop: int) -> Chain:
    before = right[start - 1 : start] if start else []
    after = right[stop : stop + 1]
    around = [(before + after, before + right[start:stop] + after)] if before and after else []
    alone = [(before, before + right[start:stop])] if before else []
    return [*around, *alone, *([(after, right[start:stop] + after)] if after else [])]


def _node_chains(right: ast.AST, wrong: ast.AST) -> list[Chain]:
    """As `_body_chains`; every inner difference is also one of this node, unless it is a whole definition."""
    if same_code(right, wrong):
        return []
    inner = _inner(right, wrong) if type(right) is type(wrong) else None
    if not inner:
        return [[([wrong], [right])]]
    if isinstance(right, COMPOUND):
        return inner
    return [[([wrong], [right])]] if len(inner) > 1 else [[([wrong], [right]), *inner[0]]]


def _inner(right: ast.AST, wrong: ast.AST) -> list[Chain] | None:
    """The differences of the parts; None if something differs that is no node."""
    found: list[Chain] = []
    for field, value in ast.iter_fields(right):
        other = getattr(wrong, field, None)
        if field in IGNORED:
            continue
        if isinstance(value, ast.AST) and isinstance(other, ast.AST):
            found += _node_chains(value, other)
        elif _are_nodes(value) and _are_nodes(other):
            if len(value) != len(other) and not isinstance(value[0] if value else other[0], ast.stmt):
                return None
            found += _list_chains(value, other)
        elif value != other:
            return None
    return found


def _are_nodes(value: object) -> TypeGuard[list[ast.AST]]:
    return isinstance(value, list) and all(isinstance(one, ast.AST) for one in value)


# -- where it stands ---------------------------------------------------------------------------------------------------


def match(pattern: Sequence[ast.AST], nodes: Sequence[object]) -> dict[str, str] | None:
    """The student's name for each of the pattern's, if the nodes are the same apart from names; else None."""
    names: dict[str, str] = {}
    if len(pattern) != len(nodes):
        return None
    return names if all(_fits(one, node, names) for one, node in zip(pattern, nodes, strict=True)) else None


def is_specific(pattern: Sequence[ast.AST]) -> bool:
    """Whether it is more than a name or a number, which stands in many places."""
    return any(isinstance(node, SPECIFIC) for one in pattern for node in ast.walk(one))


def _fits(pattern: object, node: object, names: dict[str, str]) -> bool:
    if isinstance(pattern, ast.Name) and isinstance(node, ast.Name):
        if pattern.id in FIXED or node.id in FIXED:
            return pattern.id == node.id
        known = pattern.id in names or node.id in names.values()
        return names.get(pattern.id) == node.id if known else names.setdefault(pattern.id, node.id) == node.id
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, list) and isinstance(node, list):
        return len(pattern) == len(node) and all(_fits(a, b, names) for a, b in zip(pattern, node, strict=True))
    if not isinstance(pattern, ast.AST):
        return pattern == node
    fields = [field for field in pattern._fields if field not in IGNORED]
    return all(_fits(getattr(pattern, field, None), getattr(node, field, None), names) for field in fields)


def with_names(node: ast.AST, names: dict[str, str]) -> ast.AST:
    """A copy in which these variables have other names."""
    made = copy.deepcopy(node)
    for one in ast.walk(made):
        if isinstance(one, ast.Name):
            one.id = names.get(one.id, one.id)
    return made
