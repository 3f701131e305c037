"""Which functions of a flat file are pure: they compute a value and have no side effect."""

from __future__ import annotations

import ast
from functools import lru_cache

from .ast_queries import DUNDER, Function, functions
from .rewrite import Source

# methods that change what they are called on: such a call is never superfluous
IN_PLACE = {"append", "extend", "pop", "update", "setdefault", "add", "register_buffer", "insert", "remove", "apply"}


def is_pure(source: Source, node: ast.AST) -> bool:
    """Whether a piece of code only computes values: it calls no function of this file with a side effect, and changes
    nothing in place."""
    return calls_none_of(node, impure_functions(source))


def calls_none_of(node: ast.AST, impure: frozenset[str]) -> bool:
    """Whether a piece of code calls none of these functions and changes nothing in place."""
    for each in ast.walk(node):
        if isinstance(each, (ast.NamedExpr, ast.Yield, ast.Await)):
            return False
        if isinstance(each, ast.Call):
            name = each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")
            if name in impure or name in IN_PLACE or (name.endswith("_") and not name.endswith("__")):
                return False
    return True


@lru_cache(maxsize=1)
def impure_functions(source: Source) -> frozenset[str]:
    """The names of the file's functions that may have a side effect: all, less those that are pure as far as they call
    only functions already known to be pure."""
    by_name: dict[str, list[Function]] = {}
    for function in functions(source):
        by_name.setdefault(function.name, []).append(function)
    impure = frozenset(by_name)
    while True:
        pure = {
            name
            for name in impure
            if not DUNDER.fullmatch(name) and all(is_pure_function(each, impure) for each in by_name[name])
        }
        if not pure:
            return impure
        impure -= pure


def pure_functions(source: Source) -> frozenset[str]:
    """The names of the file's functions without a side effect, so that a call whose value is not used is needless."""
    return frozenset(function.name for function in functions(source)) - impure_functions(source)


def is_pure_function(function: Function, impure: frozenset[str]) -> bool:
    """Whether a function assigns only local names, raises nothing, and calls none of the impure functions."""
    allowed = (ast.Assign, ast.AnnAssign, ast.For, ast.If, ast.Expr, ast.Return, ast.Pass, ast.Continue, ast.Break)
    for node in (n for n in ast.walk(function) if isinstance(n, ast.stmt) and n is not function):
        if not isinstance(node, allowed):
            return False
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(
            isinstance(n, (ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Store)
            for t in targets
            if t
            for n in ast.walk(t)
        ):
            return False
    return all(calls_none_of(each, impure) for each in function.body)
