"""What a function computes: its statements whose values reach the result, so that lines in vain count for nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from autograder.exercises.parse import is_in_place_method, stored_names

COLLECTIONS = (ast.Tuple, ast.List, ast.Dict, ast.IfExp)
MODULES = {"torch", "nn", "F", "init"}  # whose functions change their first argument, if their name says so
Compound = ast.For | ast.While | ast.If | ast.With | ast.Try


@dataclass(frozen=True)
class ParsedStatement:
    """A statement; of one that holds others, such as a loop, its head."""

    text: str
    binds: frozenset[str]  # variables that it binds or changes
    uses: frozenset[str]
    always_live: bool = False  # whether it ends the function or the loop
    inside: tuple[ParsedStatement, ...] = ()


def live_statements(function: ast.FunctionDef) -> list[ParsedStatement]:
    """The statements of a function whose values reach its result or its object; no docstring."""
    statements = [_statement(one) for one in function.body]
    needed, before = {"self"}, -1
    while before < len(needed):
        before = len(needed)
        needed.update(name for one in _live(statements, needed) for name in one.uses)
    return list(_live(statements, needed))


def result_names(function: ast.FunctionDef) -> set[str]:
    """The variables that are returned just as they are, by themselves or beside others, and those whose values these
    are."""
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    found = {one.id for value in returned for one in _parts_of(value) if isinstance(one, ast.Name)}
    for node in reversed([one for one in ast.walk(function) if isinstance(one, ast.Assign)]):
        if isinstance(node.value, ast.Name) and not found.isdisjoint(_bound(node)):
            found.add(node.value.id)
    return found


def makers_of_results(function: ast.FunctionDef, results: Set[str]) -> set[ast.AST]:
    """What holds all of a result: each `return`, each assignment to one of `results`, and the tuples in them."""
    found: set[ast.AST] = set()
    for node in ast.walk(function):
        made = isinstance(node, ast.Assign | ast.AnnAssign) and not results.isdisjoint(stored_names(node))
        if isinstance(node, ast.Return) or made:
            value = node.value  # type: ignore[attr-defined]
            found |= {node, *(one for one in _parts_of(value) if isinstance(one, COLLECTIONS))} if value else {node}
    return found


def _parts_of(value: ast.expr) -> Iterator[ast.expr]:
    """The value, and what it hands on as it is."""
    yield value
    if isinstance(value, COLLECTIONS):
        for one in ast.iter_child_nodes(value):
            if isinstance(one, ast.expr):
                yield from _parts_of(one)


def _live(statements: Sequence[ParsedStatement], needed: set[str]) -> Iterator[ParsedStatement]:
    """Those of these statements that a result needs, with what is in them."""
    for one in statements:
        inside = list(_live(one.inside, needed))
        if one.always_live or inside or not one.binds.isdisjoint(needed):
            yield one
        yield from inside


def _statement(statement: ast.stmt) -> ParsedStatement:
    inner = [one for field in ("body", "orelse", "finalbody", "handlers") for one in getattr(statement, field, ())]
    if isinstance(statement, Compound) and inner:
        inner = [one for each in inner for one in (each.body if isinstance(each, ast.ExceptHandler) else [each])]
        heads = [one for one in ast.iter_child_nodes(statement) if isinstance(one, ast.expr | ast.withitem)]
        text = f"{type(statement).__name__} {' '.join(map(ast.unparse, heads))}"
        names = frozenset(name for one in heads for name in _names(one))
        return ParsedStatement(text, frozenset(), names, inside=tuple(map(_statement, inner)))
    always_live = isinstance(statement, ast.Return | ast.Break | ast.Continue) or _yields(statement)
    return ParsedStatement(ast.unparse(statement), _bound(statement), _names(statement), always_live)


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _yields(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield | ast.YieldFrom)


def _bound(statement: ast.stmt) -> frozenset[str]:
    """The variables that a statement without others in it binds or changes."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return frozenset({statement.name})
    if isinstance(statement, ast.Assign):
        return frozenset(name for target in statement.targets for name in _targets(target))
    if isinstance(statement, ast.AugAssign | ast.AnnAssign):
        return frozenset(_targets(statement.target))
    return _changed_by(statement.value) if isinstance(statement, ast.Expr) else frozenset()


def _changed_by(call: ast.expr) -> frozenset[str]:
    """The variables whose values a call by itself changes."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return frozenset()
    name, owner = call.func.attr, frozenset(_targets(call.func.value))
    if not is_in_place_method(name):
        return frozenset()
    return frozenset(_targets(call.args[0])) if call.args and owner <= MODULES else owner


def _targets(target: ast.expr) -> Iterator[str]:
    """The variables that an assignment to this binds, or in whose values it writes."""
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _targets(one)
