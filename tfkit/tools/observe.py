"""Runs a source file with every expression observed: what was executed, which values came up, and which functions each
call reached. `specialise` decides by it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import nn

NAME = "flat"  # of the module while it runs
CONSTANTS = (type(None), bool, int, float, str)
WRAPPED = (
    ast.Attribute,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.IfExp,
    ast.Name,
    ast.NamedExpr,
    ast.Subscript,
    ast.UnaryOp,
)
HOOKS = ("_observe", "_observe_call", "_observe_line", "_observe_entry", "_observe_test")
Function = tuple[int, str]  # the line and the name of a definition
Value = tuple[str, Any]


@dataclass
class Observations:
    """What a run showed, by the positions of nodes in `ast.walk`'s order."""

    values: dict[int, set[Value]] = field(default_factory=dict)  # of an expression
    types: dict[int, set[type]] = field(default_factory=dict)
    truths: dict[int, set[bool]] = field(default_factory=dict)  # of an operand of a test
    lines: set[int] = field(default_factory=set)  # statements that were executed
    arguments: dict[int, dict[str, set[Value]]] = field(default_factory=dict)  # of a function: by parameter
    entries: dict[int, int] = field(default_factory=dict)  # of a function: how often it was entered
    callees: dict[int, set[Any]] = field(default_factory=dict)  # of a call: see `callee`
    reached: dict[Any, int] = field(default_factory=dict)  # how often a function was reached by calls in the file

    def constant(self, index: int) -> Value | None:
        """The only value of an expression, if it had one only and that can be written down."""
        found = self.values.get(index, set())
        only = next(iter(found)) if len(found) == 1 else None
        return only if only is not None and only[0] != "other" else None

    def see(self, index: int, value: Any) -> Any:
        """Records the value of an expression."""
        self.values.setdefault(index, set()).add(describe(value))
        self.types.setdefault(index, set()).add(type(value))
        return value

    def test(self, index: int, value: Any) -> Any:
        """Records whether a value is true."""
        self.truths.setdefault(index, set()).add(bool(value))
        return value

    def call(self, index: int, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Records what a call reaches, and makes it."""
        reached = callee(function)
        self.callees.setdefault(index, set()).add(reached)
        self.reached[reached] = self.reached.get(reached, 0) + 1
        return function(*args, **kwargs)

    def line(self, index: int) -> None:
        """Records that a statement is executed."""
        self.lines.add(index)

    def entry(self, index: int, /, **arguments: Any) -> None:
        """Records the arguments with which a function is entered."""
        self.entries[index] = self.entries.get(index, 0) + 1
        for name, value in arguments.items():
            self.arguments.setdefault(index, {}).setdefault(name, set()).add(describe(value))


def describe(value: Any) -> Value:
    """A value that can be compared and written down, or its kind."""
    if type(value) in CONSTANTS:
        return type(value).__name__, value
    if type(value) in (tuple, dict, list) and not value:
        return "empty", repr(value)
    if isinstance(value, (type, FunctionType)) and value.__module__ == NAME and "<" not in value.__qualname__:
        return "symbol", value.__qualname__
    for module, prefix in ((nn.functional, "F"), (torch, "torch")):
        if isinstance(value, (FunctionType, BuiltinFunctionType)) and vars(module).get(value.__name__) is value:  # type: ignore[union-attr]
            return "symbol", f"{prefix}.{value.__name__}"  # type: ignore[union-attr]
    return "other", type(value).__name__


def callee(function: Any) -> tuple[str, Any]:
    """What a call reaches -> ("function", its line and name), ("method", the same, if `self` is given already),
    ("fields", the name of a class without an `__init__` of its own) or ("outside", None)."""
    if isinstance(function, nn.Module):
        function = MethodType(type(function).forward, function)
    kind = "function"
    if isinstance(function, type) and function.__module__ == NAME:
        made: Any = function
        if not isinstance(made.__init__, FunctionType) or made.__init__.__code__.co_filename != NAME:
            return "fields", made.__name__
        kind, function = "method", made.__init__
    elif isinstance(function, MethodType):
        kind, function = "method", function.__func__
    code = getattr(function, "__code__", None)
    if code is None or code.co_filename != NAME:
        return "outside", None
    return kind, (code.co_firstlineno, code.co_name)


class Instrument(ast.NodeTransformer):
    """Wraps the expressions and statements of functions in calls to the hooks."""

    def __init__(self, indices: dict[ast.AST, int]) -> None:
        self.indices, self.depth = indices, 0

    def hook(self, name: str, node: ast.AST, *args: ast.expr, keywords: Iterable[ast.keyword] = ()) -> ast.Call:
        """The call of a hook, for a node."""
        index = ast.Constant(self.indices[node])
        return ast.Call(ast.Name(name, ast.Load()), [index, *args], list(keywords))

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Only the methods; and only where the class is at the top level."""
        depth, self.depth = self.depth, 0
        node.body = [self.visit(each) if isinstance(each, ast.FunctionDef) else each for each in node.body]
        self.depth = depth
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """The body, with a record of the arguments before it."""
        a = node.args
        names = [arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
        names += [arg.arg for arg in (a.vararg, a.kwarg) if arg]
        given = [ast.keyword(name, ast.Name(name, ast.Load())) for name in names if name not in ("self", "cls")]
        entry = ast.Expr(self.hook("_observe_entry", node, keywords=given))
        self.depth += 1
        docstring = [node.body[0]] if ast.get_docstring(node) is not None else []
        node.body = [*docstring, entry, *self.block(node.body[len(docstring) :])]
        self.depth -= 1
        return node

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Statements, each with a record before it."""
        return [each for old in body for each in (ast.Expr(self.hook("_observe_line", old)), self.visit(old))]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visits everything but annotations, and wraps what has a value; at the top level nothing."""
        if not self.depth and not isinstance(node, ast.Module):
            return node
        if isinstance(node, (ast.JoinedStr, ast.Constant, ast.Raise)):
            return node
        tests = tests_of(node)
        for name, old in list(ast.iter_fields(node)):
            if name in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            if isinstance(old, list) and old and isinstance(old[0], ast.stmt) and self.depth:
                setattr(node, name, self.block(old))
            elif isinstance(old, list):
                setattr(node, name, [self.operand(each, each in tests) for each in old])
            else:
                setattr(node, name, self.operand(old, old in tests))
        return self.wrap(node)

    def operand(self, node: Any, is_test: bool) -> Any:
        """A child, visited; of a test also with a record whether it is true."""
        if not isinstance(node, ast.AST):
            return node
        index, new = self.indices.get(node), self.visit(node)
        if not is_test or index is None:
            return new
        return ast.Call(ast.Name("_observe_test", ast.Load()), [ast.Constant(index), new], [])

    def wrap(self, node: ast.AST) -> ast.AST:
        """An expression in a record of its value, a call also in one of what it reaches."""
        if not isinstance(node, WRAPPED) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return node
        index = self.indices[node]
        if isinstance(node, ast.Name) and node.id == "super":
            return node
        new: ast.expr = node
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in ("super", "locals"):
                return node
            new = ast.Call(
                ast.Name("_observe_call", ast.Load()), [ast.Constant(index), node.func, *node.args], node.keywords
            )
        return ast.Call(ast.Name("_observe", ast.Load()), [ast.Constant(index), new], [])


def tests_of(node: ast.AST) -> list[ast.expr]:
    """The children of a node of which only the truth matters."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        return node.values[:-1]
    if isinstance(node, ast.comprehension):
        return list(node.ifs)
    return [node.operand] if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else []


def execute(code: Any, hooks: dict[str, Any] | None = None) -> ModuleType:
    """A module made from compiled code. It is in `sys.modules`, where dataclasses look up annotations."""
    module = sys.modules[NAME] = ModuleType(NAME)
    vars(module).update(hooks or {})
    exec(code, vars(module))
    return module


def observe(text: str, use: Callable[[ModuleType], Any]) -> Observations:
    """What happens in a file while `use` runs with it as a module."""
    tree = ast.parse(text)
    indices = {node: index for index, node in enumerate(ast.walk(tree))}
    found = Observations()
    hooks = dict(zip(HOOKS, (found.see, found.call, found.line, found.entry, found.test), strict=True))
    changed = ast.fix_missing_locations(Instrument(indices).visit(tree))
    use(execute(compile(changed, NAME, "exec"), hooks))
    return found
