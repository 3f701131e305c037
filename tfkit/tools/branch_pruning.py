"""Branch pruning: what an observed run never reached is removed, where the configuration alone decides about it."""

from __future__ import annotations

import ast

from .ast_queries import DUNDER, parenthesise
from .observe import Observations
from .rewrite import Source, move_columns

CONFIG_VARIABLES = {"self", "cls", "c", "config"}  # names under which a file has its configuration


def prune_branches(source: Source, observations: Observations) -> str:
    """Removes branches that were not taken and methods that were not called."""
    for node in source.nodes:
        if is_dunder_method(source, node):
            continue
        if isinstance(node, ast.FunctionDef) and isinstance(source.parent[node], ast.ClassDef):
            if source.index[node] not in observations.entries and node.name not in ("forward", "backward"):
                source.remove(node)
        elif isinstance(node, (ast.If, ast.IfExp)):
            prune_if(source, observations, node)
        elif isinstance(node, ast.BoolOp):
            prune_operands(source, observations, node)
        elif isinstance(node, ast.Try) and not any(
            source.index[h.body[0]] in observations.lines for h in node.handlers
        ):
            source.replace_by_block(node, node.body)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                if observations.truths.get(source.index[test]) == {True} and is_static(source, observations, test):
                    start, end = source.span(test)
                    start = source.raw.rindex(b"if", 0, start)
                    source.edits.append((len(source.raw[:start].rstrip()), end, ""))
    return source.apply()


def is_dunder_method(source: Source, node: ast.AST) -> bool:
    """Whether a node is in a method that Python itself calls, such as `__getattr__`: it serves more than was seen."""
    inside = node if isinstance(node, ast.FunctionDef) else source.inside(node, ast.FunctionDef)
    name = inside.name if isinstance(inside, ast.FunctionDef) else ""
    return DUNDER.fullmatch(name) is not None and name not in ("__init__", "__post_init__")


def prune_if(source: Source, observations: Observations, node: ast.If | ast.IfExp) -> None:
    """Replaces an `if` of which only one branch was taken by that branch."""
    truths = observations.truths.get(source.index[node.test], set())
    if len(truths) != 1:
        return
    taken = next(iter(truths))
    if isinstance(node, ast.IfExp):
        if is_static(source, observations, node.test):
            source.replace(node, parenthesise(source, node.body if taken else node.orelse))
        return
    dead = node.orelse if taken else node.body
    if not (is_static(source, observations, node.test) or (dead and isinstance(dead[-1], ast.Raise))):
        return
    live = node.body if taken else node.orelse
    if is_elif(source, node):
        replace_elif(source, node, live)
    elif live and is_elif(source, live[0]):
        start, end = source.span(live[0])
        text = source.raw[start:end].decode().removeprefix("el")
        source.edits.append((*source.lines(node), " " * node.col_offset + text + "\n"))
    else:
        source.replace_by_block(node, live)


def is_elif(source: Source, node: ast.AST) -> bool:
    """Whether a statement is the `elif` of another."""
    return isinstance(node, ast.If) and source.text(node).startswith("elif")


def replace_elif(source: Source, node: ast.If, live: list[ast.stmt]) -> None:
    """Replaces an `elif` that is always or never taken by `else` with its block, or by what comes after it."""
    start, end = source.lines(node)[0], source.lines(node)[1]
    if live and is_elif(source, live[0]):
        source.edits.append((start, source.span(live[0])[0], " " * node.col_offset))
    elif live:
        first, last = source.lines(live[0])[0], source.lines(live[-1])[1]
        text = move_columns(source.raw[first:last].decode(), node.col_offset + 4)
        source.edits.append((start, end, " " * node.col_offset + "else:\n" + text))
    else:
        source.edits.append((start, end, ""))


def prune_operands(source: Source, observations: Observations, node: ast.BoolOp) -> None:
    """Removes operands of `and` and `or` that are always neutral, or keeps the one that always decides."""
    neutral = isinstance(node.op, ast.And)
    for number, value in enumerate(node.values[:-1]):
        truths = observations.truths.get(source.index[value], set())
        if len(truths) != 1 or not is_static(source, observations, value):
            continue
        if truths == {neutral}:
            start, end = source.span(value)[0], source.span(node.values[number + 1])[0]
            if source.raw[start - 1 : start] != b"(" and source.raw[end - 1 : end] != b"(":
                source.edits.append((start, end, ""))
        elif number == 0:
            source.replace(node, source.text(value))
        return


def is_static(source: Source, observations: Observations, node: ast.expr) -> bool:
    """Whether a test is static: settled by the configuration and by which arguments are given, not by numbers or
    tensors."""
    if isinstance(node, ast.BoolOp):
        return all(
            is_static(source, observations, value)
            for value in node.values
            if source.index[value] in observations.truths
        ) and (
            source.index[node.values[-1]] not in observations.values or is_static(source, observations, node.values[-1])
        )
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return is_static(source, observations, node.operand)
    if isinstance(node, ast.Compare):
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return True
        return all(is_static_value(source, observations, each) for each in (node.left, *node.comparators))
    return is_static_value(source, observations, node)


def is_static_value(source: Source, observations: Observations, node: ast.expr) -> bool:
    """Whether a value is static: a name, a flag, a type, or a number of the configuration."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in CONFIG_VARIABLES:
        return True
    if isinstance(node, (ast.Tuple, ast.Set, ast.List)):
        return all(is_static_value(source, observations, each) for each in node.elts)
    if isinstance(node, ast.Call) and any(is_tensor(source, observations, each) for each in ast.walk(node)):
        return isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "can_read_values")
    kinds = {kind.__name__ for kind in observations.types.get(source.index[node], set())}
    return bool(kinds) and not kinds & {"int", "float", "Tensor", "Parameter"}


def is_tensor(source: Source, observations: Observations, node: ast.AST) -> bool:
    """Whether an expression was ever a tensor."""
    kinds = observations.types.get(source.index.get(node, -1), set())
    return any(kind.__name__ in ("Tensor", "Parameter") for kind in kinds)
