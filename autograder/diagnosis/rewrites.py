"""Mutation operators for diagnosis only: they change more of a right answer than those that test the checks.

As in autograder.checks.operators, each operator yields replacements for one node. `rename_variables` needs the
function around the node, so it looks at a whole definition.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any, TypeGuard

from autograder.checks.operators import OPERATORS, NodeChange, Operator, cut_gradient
from autograder.exercises.parse import stored_names

MODULES = ("torch", "nn", "F", "math", "np")
ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "sigmoid", "softplus", "elu", "leaky_relu")
LAYERS = {"ReLU": "relu", "GELU": "gelu", "SiLU": "silu", "Tanh": "tanh", "Sigmoid": "sigmoid"}
REDUCTIONS = ("sum", "mean", "max", "min", "amax", "amin", "prod", "logsumexp", "median", "std", "var")
MOST_NAMES = 24  # that are tried in the place of one


def change_activation(node: ast.AST) -> Iterator[ast.AST]:
    """`F.silu(x)` becomes `F.relu(x)`, and `x.tanh()` becomes `F.gelu(x)`."""
    if isinstance(node, ast.Attribute) and _is_module(node.value):
        if node.attr in ACTIVATIONS:
            yield from (_function(other) for other in ACTIVATIONS if other != node.attr)
        elif node.attr in LAYERS:
            yield from (ast.Attribute(ast.Name("nn", ast.Load()), other, ast.Load()) for other in LAYERS
                        if other != node.attr)  # fmt: skip
    elif isinstance(node, ast.Call) and not node.args and isinstance(func := node.func, ast.Attribute):
        others = [one for one in ACTIVATIONS if one != func.attr] if func.attr in ACTIVATIONS else []
        yield from (ast.Call(_function(one), [func.value], []) for one in others)


def change_reduction(node: ast.AST) -> Iterator[ast.AST]:
    """`x.sum(-1)` becomes `x.mean(-1)`, `x.std(-1)`, …"""
    if isinstance(node, ast.Attribute) and node.attr in REDUCTIONS:
        yield from (ast.Attribute(node.value, other, node.ctx) for other in REDUCTIONS if other != node.attr)


def move_step(node: ast.AST) -> Iterator[ast.AST]:
    """`norm(x + f(x))` becomes `x + norm(f(x))`, and the other way round; `f(g(x))` becomes `g(f(x))`."""
    if isinstance(node, ast.BinOp):
        if (right := _argument(node.right)) is not None:
            yield _with(node.right, ast.BinOp(node.left, node.op, right))
        if (left := _argument(node.left)) is not None:
            yield _with(node.left, ast.BinOp(left, node.op, node.right))
    inside = _argument(node)
    if isinstance(inside, ast.BinOp):
        yield ast.BinOp(_with(node, inside.left), inside.op, inside.right)
        yield ast.BinOp(inside.left, inside.op, _with(node, inside.right))
    elif inside is not None and (innermost := _argument(inside)) is not None:
        yield _with(inside, _with(node, innermost))


def change_bound(node: ast.AST) -> Iterator[ast.AST]:
    """A slice or a range starts or ends one place earlier or later."""
    if isinstance(node, ast.Slice):
        for field, missing in (("lower", 1), ("upper", -1)):
            bound = getattr(node, field)
            others = [ast.Constant(missing)] if bound is None else [_plus(bound, 1), _plus(bound, -1)]
            yield from (ast.Slice(**{**dict(ast.iter_fields(node)), field: other}) for other in others)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        for index, bound in enumerate(node.args):
            for by in (1, -1):
                yield ast.Call(node.func, [*node.args[:index], _plus(bound, by), *node.args[index + 1 :]], [])
        if len(node.args) == 1:
            yield ast.Call(node.func, [ast.Constant(1), *node.args], [])


def reverse_loop(node: ast.AST) -> Iterator[ast.AST]:
    """A loop runs from the last to the first."""
    if isinstance(node, (ast.For, ast.comprehension)):
        other = copy.copy(node)
        rounds = ast.Call(ast.Name("list", ast.Load()), [node.iter], [])
        other.iter = ast.Subscript(rounds, ast.Slice(None, None, ast.Constant(-1)), ast.Load())
        yield other


def exchange_lines(node: ast.AST) -> Iterator[ast.AST]:
    """Two neighbouring lines change places, or one goes in or out of the loop beside it."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or isinstance(node, ast.ClassDef):
        return
    for at in range(len(body) - 1):
        one, other = body[at], body[at + 1]
        if isinstance(other, ast.Return):
            continue
        yield _with_body(node, [*body[:at], other, one, *body[at + 2 :]])
        if isinstance(one, (ast.For, ast.While)):
            yield _with_body(node, [*body[:at], _with_body(one, [*one.body, other]), *body[at + 2 :]])
    for at, one in enumerate(body):
        if isinstance(one, (ast.For, ast.While)) and len(one.body) > 1:
            yield _with_body(node, [*body[:at], _with_body(one, one.body[:-1]), one.body[-1], *body[at + 1 :]])
            yield _with_body(node, [*body[:at], one.body[0], _with_body(one, one.body[1:]), *body[at + 1 :]])


def repeat_line(node: ast.AST) -> Iterator[ast.AST]:
    """A call for its effect, or an update, is made twice."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and not isinstance(node, ast.ClassDef):
        for at, one in enumerate(body):
            if isinstance(one, (ast.Expr, ast.AugAssign)) and not isinstance(getattr(one, "value", None), ast.Constant):
                yield _with_body(node, [*body[: at + 1], *body[at:]])


def skip_rest(node: ast.AST) -> Iterator[ast.AST]:
    """A loop over blocks leaves the last one out if it is not full."""
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Name) and node.func.id == "range" and len(node.args) == 3:
        start, end, step = node.args
        yield ast.Call(node.func, [start, ast.BinOp(_plus(end, 1), ast.Sub(), step), step], [])
    elif _is_method(node, "split") and len(node.args) in (1, 2):
        axis = next((one.value for one in node.keywords if one.arg == "dim"), (*node.args[1:], ast.Constant(0))[0])
        size = ast.Call(ast.Attribute(ast.Name("block", ast.Load()), "size", ast.Load()), [axis], [])
        full = ast.Compare(size, [ast.Eq()], [node.args[0]])
        blocks = ast.comprehension(ast.Name("block", ast.Store()), node, [full], 0)
        yield ast.ListComp(ast.Name("block", ast.Load()), [blocks])


def average_rows(node: ast.AST) -> Iterator[ast.AST]:
    """`(x * m).sum() / m.sum()` becomes `((x * m).sum(-1) / m.sum(-1)).mean()`, in which each row counts alike."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div) or not _is_whole_sum(node.left):
        return
    count: Any = copy.deepcopy(node.right)
    inner = count.func.value if _is_method(count, "clamp") else count
    if _is_whole_sum(inner):
        inner.args = [ast.UnaryOp(ast.USub(), ast.Constant(1))]
        total = ast.Call(node.left.func, inner.args, [])
        yield ast.Call(ast.Attribute(ast.BinOp(total, ast.Div(), count), "mean", ast.Load()), [], [])


def _is_method(node: ast.AST, name: str) -> TypeGuard[Any]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name


def _is_whole_sum(node: ast.AST) -> TypeGuard[Any]:
    """Whether this is `x.sum()`, over all axes."""
    return _is_method(node, "sum") and not node.args and not node.keywords


REWRITES: tuple[Operator, ...] = (
    *(one for one in OPERATORS if one is not cut_gradient),
    change_activation, change_reduction, move_step, change_bound, exchange_lines, repeat_line, reverse_loop,
    skip_rest, average_rows,
)  # fmt: skip


def rename_variables(definition: ast.AST) -> Iterator[NodeChange]:
    """One variable of a function stands for another, or one part of an object for another."""
    parts = sorted({node.attr for node in ast.walk(definition)
                    if _is_part(node) and isinstance(node.ctx, ast.Store)})  # fmt: skip
    for function in ast.walk(definition):
        if not isinstance(function, ast.FunctionDef):
            continue
        names = sorted(_local_names(function) - {"self"})
        for parent, field, place, node in _loads(function):
            if isinstance(node, ast.Name) and node.id in names:
                others: list[ast.expr] = [ast.Name(one, ast.Load()) for one in names if one != node.id]
            elif _is_part(node) and node.attr in parts:
                others = [ast.Attribute(node.value, one, ast.Load()) for one in parts if one != node.attr]
            else:
                continue
            for variant, other in enumerate(others[:MOST_NAMES]):
                yield NodeChange("renamed", variant, parent, field, place, node, other)


def _is_part(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _local_names(function: ast.FunctionDef) -> set[str]:
    a = function.args
    given = {argument.arg for argument in (*a.posonlyargs, *a.args, *a.kwonlyargs)}
    return given | stored_names(function)


def _loads(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, str, int | None, ast.expr]]:
    """(parent, field, place, node) of each name and attribute that is read in a function's body."""
    for parent in (one for statement in function.body for one in ast.walk(statement)):
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns", "func"):
                continue
            for place, child in enumerate(value) if isinstance(value, list) else ((None, value),):
                if isinstance(child, (ast.Name, ast.Attribute)) and isinstance(child.ctx, ast.Load):
                    yield parent, field, place, child


def _argument(node: ast.AST) -> ast.expr | None:
    """What a step works on: the first argument of a function, or what a method is called on."""
    if not isinstance(node, ast.Call):
        return None
    func = node.func
    if isinstance(func, ast.Attribute) and not _is_module(func.value) and not _is_part(func):
        return func.value
    return node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None


def _with(node: ast.AST, argument: ast.expr) -> ast.expr:
    """The same step of something else."""
    assert isinstance(node, ast.Call)
    func = node.func
    if isinstance(func, ast.Attribute) and not _is_module(func.value) and not _is_part(func):
        return ast.Call(ast.Attribute(argument, func.attr, func.ctx), node.args, node.keywords)
    return ast.Call(func, [argument, *node.args[1:]], node.keywords)


def _with_body(node: Any, body: list[ast.stmt]) -> Any:
    other = copy.copy(node)
    other.body = body or [ast.Pass()]
    return other


def _plus(node: ast.expr, by: int) -> ast.expr:
    return ast.BinOp(node, ast.Add() if by > 0 else ast.Sub(), ast.Constant(1))


def _function(name: str) -> ast.expr:
    return ast.Attribute(ast.Name("F", ast.Load()), name, ast.Load())


def _is_module(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in MODULES
