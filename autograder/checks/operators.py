"""Mutation operators: each rewrites one place of a syntax tree into a mutation that a student might make.

Only mutations that change behaviour are of interest, so types, docstrings, imports and names stay as they are.
"""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Operator = Callable[[ast.AST], Iterator[ast.AST]]
Key = tuple[str, str, str]  # a mutant's definition, the removed lines, and the lines that replace them

ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mod,
              ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult}  # fmt: skip
COMPARISONS = {ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
               ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
               ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,)}  # fmt: skip
# functions that are easily confused
CONFUSED = {
    "sum": ("mean", "amax"), "mean": ("sum",), "any": ("all",), "all": ("any",), "max": ("min",), "min": ("max",),
    "amax": ("amin",), "argmax": ("argmin",), "cumsum": ("cumprod",), "softmax": ("log_softmax", "sigmoid"),
    "log_softmax": ("softmax",), "logsumexp": ("amax",), "sin": ("cos",), "cos": ("sin",), "tanh": ("sigmoid",),
    "relu": ("tanh",), "exp": ("log",), "log": ("exp",), "tril": ("triu",), "triu": ("tril",), "zeros": ("ones",),
    "ones": ("zeros",), "new_zeros": ("new_ones",), "zeros_like": ("ones_like",), "sqrt": ("log",),
    "sort": ("argsort",), "append": ("remove",), "ceil": ("floor",), "floor": ("ceil",), "roll": ("flip",),
}  # fmt: skip
GUARDS = ("strict",)  # they only guard against wrong calls, and no answer depends on them
SYMMETRIC = ("transpose", "swapaxes", "promote_types")  # in their arguments


def drop_term(node: ast.AST) -> Iterator[ast.AST]:
    """`a + b` becomes `a`, or `b`; `a / b` becomes `a`."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        yield node.left
        if isinstance(node.op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)):
            yield node.right
    elif isinstance(node, ast.BoolOp):
        yield from node.values


def change_operator(node: ast.AST) -> Iterator[ast.AST]:
    """`+` for `-`, `*` for `/`, `&` for `|`, `and` for `or`."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def change_comparison(node: ast.AST) -> Iterator[ast.AST]:
    """`<` becomes `<=`, or its opposite."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in COMPARISONS[type(node.ops[0])]:
            yield ast.Compare(node.left, [other()], node.comparators)


def drop_sign(node: ast.AST) -> Iterator[ast.AST]:
    """`-x`, `~x` and `not x` become `x`."""
    if isinstance(node, ast.UnaryOp):
        yield node.operand


def change_constant(node: ast.AST) -> Iterator[ast.AST]:
    """An index, axis or size one off; a number doubled; True for False; 0 for infinity."""
    if isinstance(node, ast.Call) and ast.unparse(node) == "float('-inf')":
        yield ast.Constant(0.0)
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield from (ast.Constant(node.value + 1), ast.Constant(node.value - 1))
    elif isinstance(node.value, float):
        yield ast.Constant(2 * node.value if node.value else 1.0)


def change_function(node: ast.AST) -> Iterator[ast.AST]:
    """One reduction, sine or triangle function for another: `sum` becomes `mean`."""
    if isinstance(node, ast.Attribute):
        yield from (ast.Attribute(node.value, other, node.ctx) for other in CONFUSED.get(node.attr, ()))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        for other in CONFUSED.get(node.func.id, ()):
            yield ast.Call(ast.Name(other, ast.Load()), node.args, node.keywords)


def drop_call(node: ast.AST) -> Iterator[ast.AST]:
    """`x.masked_fill(…)` becomes `x`, and `f(x, …)` too: a mask, a cast, a transposition is left out."""
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
        yield node.func.value
    if node.args and not isinstance(node.args[0], ast.Starred):
        yield node.args[0]


def drop_argument(node: ast.AST) -> Iterator[ast.AST]:
    """A keyword or the last argument is forgotten; a mask is not passed on."""
    if not isinstance(node, ast.Call):
        return
    for index, keyword in enumerate(node.keywords):
        if keyword.arg in GUARDS:
            continue
        yield ast.Call(node.func, node.args, node.keywords[:index] + node.keywords[index + 1 :])
    if len(node.args) > 1:
        yield ast.Call(node.func, node.args[:-1], node.keywords)
    for index, argument in enumerate(node.args):
        if isinstance(argument, (ast.Name, ast.Attribute)) and "mask" in ast.unparse(argument):
            args = [*node.args[:index], ast.Constant(None), *node.args[index + 1 :]]
            yield ast.Call(node.func, args, node.keywords)


def swap(node: ast.AST) -> Iterator[ast.AST]:
    """Two neighbours change places: arguments, members of a tuple, the sides of `-`, `/` and `@`."""
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") not in SYMMETRIC:
        yield from (ast.Call(node.func, args, node.keywords) for args in _swapped(node.args))
    elif isinstance(node, ast.Tuple):
        yield from (ast.Tuple(members, node.ctx) for members in _swapped(node.elts))
    elif isinstance(node, ast.List):
        yield from (ast.List(members, node.ctx) for members in _swapped(node.elts))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Div, ast.MatMult, ast.FloorDiv, ast.Mod)):
        yield ast.BinOp(node.right, node.op, node.left)


def change_slice(node: ast.AST) -> Iterator[ast.AST]:
    """A bound or the step is forgotten."""
    if isinstance(node, ast.Slice):
        for field in ("lower", "upper", "step"):
            if getattr(node, field) is not None:
                yield ast.Slice(**{**dict(ast.iter_fields(node)), field: None})


def drop_statement(node: ast.AST) -> Iterator[ast.AST]:
    """An update, a call for its effect, a `break` is left out; of an `if` one side is always taken."""
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Break, ast.Continue)) or _is_effect(node):
        yield ast.Pass()
    elif isinstance(node, ast.If):
        yield ast.If(ast.Constant(True), node.body, node.orelse)
        yield ast.If(ast.Constant(False), node.body, node.orelse)
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)


def shorten_loop(node: ast.AST) -> Iterator[ast.AST]:
    """The first or the last round is forgotten; a comprehension's condition too."""
    for bounds in (ast.Slice(ast.Constant(1), None, None), ast.Slice(None, ast.Constant(-1), None)):
        if isinstance(node, (ast.For, ast.comprehension)):
            shorter = copy.copy(node)
            rounds = ast.Call(ast.Name("list", ast.Load()), [node.iter], [])
            shorter.iter = ast.Subscript(rounds, bounds, ast.Load())
            yield shorter
    if isinstance(node, ast.comprehension) and node.ifs:
        yield ast.comprehension(node.target, node.iter, node.ifs[:-1], node.is_async)


def cut_gradient(node: ast.AST) -> Iterator[ast.AST]:
    """One side of an operation is detached by a function `cut`: the value stays, its gradient is gone."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult)):
        if not isinstance(node.left, ast.Constant):
            yield ast.BinOp(_detached(node.left), node.op, node.right)
        if not isinstance(node.right, ast.Constant):
            yield ast.BinOp(node.left, node.op, _detached(node.right))


OPERATORS: tuple[Operator, ...] = (
    drop_term, change_operator, change_comparison, drop_sign, change_constant, change_function, drop_call,
    drop_argument, swap, change_slice, drop_statement, shorten_loop, cut_gradient,
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A source with one mutation. `old` and `new`, the lines that differ, are its name within the definition."""

    definition: str
    operator: str
    old: str
    new: str
    source: str

    @property
    def key(self) -> Key:
        """The mutant's identity, which stays the same when another part of the source changes."""
        return self.definition, self.old, self.new

    @property
    def name(self) -> str:
        """The mutant's name in the report."""
        return f"{self.definition}: {self.old}  =>  {self.new or '(nothing)'}"


def mutants(source: str, definitions: set[str]) -> Iterator[Mutant]:
    """Every mutant of these top-level definitions, in the order of the source and without duplicates."""
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    for definition in tree.body:
        name = getattr(definition, "name", None)
        if name not in definitions:
            continue
        before = ast.unparse(definition)
        for operator in _changed(definition):
            text = ast.unparse(tree)
            if text not in seen:
                seen.add(text)
                yield Mutant(name, operator, *_difference(before, ast.unparse(definition)), text)


@dataclass(frozen=True)
class NodeChange:
    """One node of a tree, and what an operator puts in its place: the `variant`-th of what it offers."""

    operator: str
    variant: int
    parent: ast.AST
    field: str
    place: int | None  # in the parent's field, where that is a list
    node: ast.AST
    other: ast.AST

    def make(self) -> None:
        """Put the replacement into the tree."""
        _put(self.parent, self.field, self.place, self.other)

    def undo(self) -> None:
        """Put the original node back."""
        _put(self.parent, self.field, self.place, self.node)


def changes(definition: ast.AST, operators: Sequence[Operator] = OPERATORS) -> Iterator[NodeChange]:
    """Every change that these operators offer below a node; none of them is made yet."""
    for parent, field, place, node in list(_places(definition)):
        for operator in operators:
            for variant, other in enumerate(operator(node)):
                yield NodeChange(operator.__name__, variant, parent, field, place, node, other)


def _changed(definition: ast.AST) -> Iterator[str]:
    """Makes each change in the tree, yields the operator's name, and undoes the change."""
    for change in changes(definition):
        change.make()
        yield change.operator
        change.undo()


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """(parent, field, index in it, node) of everything below a node that may be changed."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases", "func") and not isinstance(node, ast.Call):
            continue
        for place, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(child, ast.AST) or _is_text(child) or getattr(child, "arg", None) in GUARDS:
                continue
            yield node, field, place, child
            yield from _places(child)


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _difference(before: str, after: str) -> tuple[str, str]:
    lines = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    old, new = ([line[2:].strip() for line in lines if line.startswith(sign)] for sign in ("- ", "+ "))
    return " / ".join(old), " / ".join(new)


def _swapped(members: list[ast.expr]) -> Iterator[list[ast.expr]]:
    for n in range(len(members) - 1):
        yield [*members[:n], members[n + 1], members[n], *members[n + 2 :]]


def _detached(node: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("cut", ast.Load()), [node], [])


def _is_module(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("torch", "nn", "F", "math")


def _is_text(node: ast.AST) -> bool:
    """Whether the node is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_effect(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and "super()" not in ast.unparse(node)
