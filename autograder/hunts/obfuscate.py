"""Obfuscates code, which finds out a test that only recognises the text or the bytecode that it was shown."""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Iterator, Sequence

from autograder.exercises.parse import parse_source

BUILTINS = ("abs", "all", "any", "bool", "dict", "float", "int", "len", "list", "max", "min", "range", "set", "sum")
KEPT = (ast.Global, ast.Nonlocal)  # stand before the names that they are about
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SMALLEST, LARGEST = 10**6, 10**7  # of the number from which the constants are computed
WORDS = (
    "all before block both count each end first given head high index input inner last left length level low mean new "
    "next old other outer pair part place rest right row scale second side size small start state step sum total value"
)
FILLER = "abcdefghijklmnopqrstuvwxyz"


def obfuscate(source: str, seed: str) -> str:
    """The source with other text and other bytecode in each function, which does what it did.

    Numbers and texts are computed, attributes are asked for by such texts, and variables have other names. Between its
    statements a function stores builtins that nothing reads. Only what decompiles a function can still recognise it.
    """
    tree, rng = parse_source(source), random.Random(seed)
    taken = _bound(tree)
    for function in list(_outermost(tree)):
        _rename_variables(function, rng)
        _compute_constants(function, rng, "getattr" not in taken)
    free = [name for name in BUILTINS if name not in taken]
    for function in [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]:
        documented = ast.get_docstring(function, clean=False) is not None
        function.body = [*function.body[:documented], *_with_dead_stores(function.body[documented:], free, rng)]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _outermost(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions and methods that are in no other function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            yield child
        else:
            yield from _outermost(child)


def _with_dead_stores(body: list[ast.stmt], free: Sequence[str], rng: random.Random) -> Iterator[ast.stmt]:
    for statement in body:
        if free and not isinstance(statement, KEPT):
            yield ast.Assign([_new_name(rng)], ast.Name(rng.choice(free), ast.Load()))
        yield statement


def _new_name(rng: random.Random) -> ast.Name:
    """A name as people write them, so that it tells nobody that it was made."""
    words = rng.sample(WORDS.split(), 4)
    return ast.Name("_".join(words), ast.Store())


def _bound(tree: ast.AST) -> set[str]:
    """Every name that is bound anywhere: a builtin of that name may be a variable without a value."""
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return stored | _bound_otherwise(tree)


def _bound_otherwise(tree: ast.AST) -> set[str]:
    """The names that are bound by something else than a variable that is assigned."""
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            found.add(node.name or "")
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, KEPT):
            found.update(node.names)
        elif isinstance(node, ast.MatchMapping):
            found.add(node.rest or "")
    return found


def _rename_variables(function: ast.AST, rng: random.Random) -> None:
    """Other names for variables that are only assigned; none in a function with a class: they may be its attributes."""
    if any(isinstance(node, ast.ClassDef) for node in ast.walk(function)):
        return
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    local = {node.id for node in names if isinstance(node.ctx, ast.Store)} - _bound_otherwise(function)
    new = {name: f"{_new_name(rng).id}{number}" for number, name in enumerate(sorted(local))}
    for node in names:
        node.id = new.get(node.id, node.id)


def _compute_constants(function: ast.FunctionDef | ast.AsyncFunctionDef, rng: random.Random, attributes: bool) -> None:
    target, start = _new_name(rng), rng.randrange(SMALLEST, LARGEST)
    documented = ast.get_docstring(function, clean=False) is not None
    computed = _Computed(target.id, start, rng, attributes)
    body = [computed.visit(statement) for statement in function.body[documented:]]
    kept = [statement for statement in body if isinstance(statement, KEPT)]
    rest = [statement for statement in body if not isinstance(statement, KEPT)]
    begin = ast.Assign([target], ast.Constant(start))
    function.body = [*function.body[:documented], *kept, begin, *rest]


class _Computed(ast.NodeTransformer):
    """Constants become expressions with a variable, which the compiler cannot fold; attributes become `getattr`."""

    def __init__(self, name: str, start: int, rng: random.Random, attributes: bool) -> None:
        self.name, self.start, self.rng, self.attributes = name, start, rng, attributes

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Leaves None, bytes, and what is not finite."""
        value = node.value
        if isinstance(value, bool):
            return ast.Compare(self._start(), [ast.Eq() if value else ast.NotEq()], [ast.Constant(self.start)])
        if isinstance(value, int):
            return self._whole(value)
        if isinstance(value, float) and math.isfinite(value):
            above, below = value.as_integer_ratio()  # whose quotient is rounded to this very number
            return ast.BinOp(self._whole(above), ast.Div(), self._whole(below))
        return self._text(value) if isinstance(value, str) and value else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Names with two underscores may be mangled."""
        self.generic_visit(node)
        if not self.attributes or not isinstance(node.ctx, ast.Load) or node.attr.startswith("__"):
            return node
        return ast.Call(ast.Name("getattr", ast.Load()), [node.value, self._text(node.attr)], [])

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Leaves the docstring of an inner function."""
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leaves the annotation."""
        node.value = self.visit(node.value) if node.value is not None else None
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Leaves the annotation."""
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Leaves it: its parts have to be constants."""
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        """Leaves the pattern."""
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def _start(self) -> ast.expr:
        return ast.Name(self.name, ast.Load())

    def _whole(self, value: int) -> ast.expr:
        return ast.BinOp(self._start(), ast.BitXor(), ast.Constant(self.start ^ value))

    def _text(self, value: str) -> ast.expr:
        """Every second character of a longer text."""
        mixed = "".join(one + self.rng.choice(FILLER) for one in value)
        return ast.Subscript(ast.Constant(mixed), ast.Slice(step=self._whole(2)), ast.Load())
