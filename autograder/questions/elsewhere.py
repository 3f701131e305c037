"""Finds what an answer leaves to other cells: questions are about the answer's own cell, so that code that does the
work elsewhere would never be asked about.
"""

from __future__ import annotations

import ast
import builtins
import collections
import dataclasses
import functools
import itertools
import math
import re
import typing
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType

import torch

from autograder.api import Exercise
from autograder.exercises import registry
from autograder.exercises.parse import bindings, defined_names, parse_source, symbol_tables, without_magics
from autograder.grade.run import CellSource

# what a function can get the names of other cells by, whether it is called or is an attribute
WAYS = frozenset({
    "globals", "vars", "locals", "exec", "__import__", "import_module", "get_ipython", "user_ns", "__builtins__",
    "__globals__", "__dict__", "f_globals", "f_locals", "f_back", "get_objects", "get_referrers",
})  # fmt: skip
CALLED_WAYS = WAYS | {"eval"}  # as an attribute it is a module's
SEPARATORS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # as `str.splitlines` has them
CELL_MAGIC = re.compile(r"\s*(%%\S*)")
PLAIN_MAGICS = ("%%time", "%%capture")  # which run the cell's code as it is
WAY_MODULES = frozenset({"__main__", "builtins", "gc"})
# of Python and IPython; not In, Out and _, which hold what other cells gave
KNOWN = (frozenset(dir(builtins)) - CALLED_WAYS) | {
    "__name__", "__class__", "__file__", "__doc__", "__annotations__", "display",
}  # fmt: skip
# whose names a star gives; those of other modules are not known, and the grader imports none that a student names
STARRED: dict[str, ModuleType] = {
    one.__name__: one
    for one in (collections, dataclasses, functools, itertools, math, torch, torch.nn, torch.nn.functional, typing)
}
PLAIN = (ast.Name, ast.Constant, ast.Attribute, ast.Starred, ast.keyword, ast.expr_context, ast.UnaryOp, ast.unaryop)


def names_from_elsewhere(exercise: Exercise, text: str, sources: Sequence[CellSource]) -> list[str]:
    """The names that a cell uses and that neither it, Python, an import nor the answer to an earlier exercise defines.
    Attributes that another cell sets on a module, or on an answer, count as its names.

    Where another cell defines them does not matter: `exec` can do so without naming them. Empty for code that does not
    parse.
    """
    try:
        tree = parse_source(without_magics(text))
        used = _free_names(without_magics(text))
    except SyntaxError:
        return []
    others = [(one, without_magics(one.text)) for one in sources if without_magics(one.text).strip() != text.strip()]
    defined = {name for _, other in others for name in _defined(other)}
    imported = {name for _, other in others for name in _imported(other)}
    attributes = {one.attr for one in ast.walk(tree) if isinstance(one, ast.Attribute)} | _looked_up(tree)
    answered = _answered(exercise, others)
    places = imported | _imports(tree) | answered | {*exercise.symbols}
    set_there = {name for _, other in others for name in _attributes_set(other, places)}
    known = (KNOWN - defined) | (imported - defined) | _star_names(tree) | answered
    return sorted(((used - known) | ((attributes | used) & set_there)) - CALLED_WAYS)


def ways_elsewhere(text: str) -> list[str]:
    """What a cell uses by which it can get at any name of another cell, such as `globals` and `__main__`."""
    try:
        tree = parse_source(without_magics(text))
    except SyntaxError:
        return []
    return sorted(set(_ways(tree)))


def ways_of_notebook(text: str) -> list[str]:
    """What makes a notebook run other code than is parsed: characters that end a line for IPython, and none for Python,
    and a cell magic but for Python's own code in it. text: the cell as it was handed in."""
    found = {ascii(one)[1:-1] for one in SEPARATORS.findall(text)}
    magic = CELL_MAGIC.match(text)
    return sorted(found | ({magic[1]} if magic and magic[1] not in PLAIN_MAGICS else set()))


def only_call(text: str, lines: Sequence[int]) -> str:
    """The call that these lines consist of, if nothing else in them is computed: what it does is not asked about.
    Otherwise "".
    """
    tree, calls = parse_source(text), set[str]()
    for line in set(lines):
        value, targets = _value_at(tree, line)
        parts: list[ast.AST] = [*targets, value] if value is not None else []
        if isinstance(value, ast.Call):
            calls.add(ast.unparse(value))
            parts = [*targets, value.func, *value.args, *value.keywords]
        if not parts or not all(isinstance(node, PLAIN) for part in parts for node in ast.walk(part)):
            return ""
    return calls.pop() if len(calls) == 1 else ""


def earlier_answers(exercise: Exercise, text: str) -> list[Exercise]:
    """The exercises before this one whose answers a cell uses by their names. Raises SyntaxError."""
    used = _free_names(text) - {*exercise.symbols}
    return [one for one in _before(exercise) if used & {*one.symbols}]


def _before(exercise: Exercise) -> Iterator[Exercise]:
    return itertools.takewhile(lambda one: one.id != exercise.id, registry.exercises())


def guarded_imports(texts: Iterable[str]) -> str:
    """The imports of these cells, each on its own, so that one that fails, in whatever way, stops no other; none
    inside a function."""
    found: dict[str, None] = {}
    for text in texts:
        try:
            nodes = [node for _, node in bindings(parse_source(without_magics(text)).body)]
        except SyntaxError:
            continue
        found |= dict.fromkeys(ast.unparse(node) for node in nodes if _is_import(node))
    return "".join(f"try:\n    {one}\nexcept Exception:\n    pass\n" for one in found)


def _is_import(node: ast.AST) -> bool:
    """Whether it is an import that may stand anywhere."""
    return isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module != "__future__")


def _value_at(tree: ast.Module, line: int) -> tuple[ast.expr | None, list[ast.expr]]:
    """What the innermost statement on a line gives, and to what, if it gives a value and computes none besides."""
    around = [
        one for one in ast.walk(tree)
        if isinstance(one, ast.stmt) and one.lineno <= line <= (one.end_lineno or one.lineno)
    ]  # fmt: skip
    found = max(around, key=lambda one: (one.lineno, one.col_offset), default=None)
    if not isinstance(found, ast.Return | ast.Assign | ast.Expr):
        return None, []
    value = found.value
    while isinstance(value, ast.Lambda):
        value = value.body
    return value, found.targets if isinstance(found, ast.Assign) else []


def _free_names(text: str) -> set[str]:
    """The names that code takes from the notebook: used in some scope, global in it, and not set in the cell's own.

    Raises SyntaxError.
    """
    tables = symbol_tables(text)
    top = tables[0]
    used = {one.get_name() for table in tables for one in table.get_symbols()
            if one.is_referenced() and (table is top or one.is_global())}  # fmt: skip
    own = {one.get_name() for table in tables for one in table.get_symbols()
           if (table is top or one.is_declared_global()) and (one.is_assigned() or one.is_imported())}  # fmt: skip
    return used - (own - _from_itself(text))


def _from_itself(text: str) -> set[str]:
    """The names to which a statement assigns what they were: `x = x` takes `x` from elsewhere."""
    found = set()
    for one in parse_source(text).body:
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Name):
            found |= {target.id for target in one.targets if isinstance(target, ast.Name)} & {one.value.id}
    return found


def _ways(tree: ast.Module) -> Iterator[str]:
    imports = _imports(tree)
    compared = {
        id(part) for one in ast.walk(tree) if isinstance(one, ast.Compare) for part in [one.left, *one.comparators]
    }  # `if __name__ == "__main__"`
    for one in ast.walk(tree):
        if isinstance(one, ast.Name) and one.id in CALLED_WAYS:
            yield one.id
        elif isinstance(one, ast.Attribute) and (one.attr in WAYS or _is_modules(one, imports)):
            yield one.attr
        elif isinstance(one, ast.Constant) and one.value == "__main__" and id(one) not in compared:
            yield "__main__"
        elif isinstance(one, ast.Import):
            yield from (alias.name for alias in one.names if alias.name in WAY_MODULES)
        elif isinstance(one, ast.ImportFrom):
            yield from ({one.module or ""} & WAY_MODULES)
            yield from (alias.name for alias in one.names if alias.name in CALLED_WAYS)
            yield from (alias.name for alias in one.names if (one.module, alias.name) == ("sys", "modules"))


def _is_modules(one: ast.Attribute, imports: set[str]) -> bool:
    """`sys.modules`, and not that of a model."""
    return one.attr == "modules" and isinstance(one.value, ast.Name) and one.value.id in imports | {"sys"}


def _looked_up(tree: ast.Module) -> set[str]:
    """The attributes of `getattr(torch, "name")`."""
    return {name for _, name in _attribute_calls(tree, "getattr")}


def _attribute_calls(tree: ast.Module, function: str) -> Iterator[tuple[ast.expr, str]]:
    """Of each `getattr` or `setattr` with a literal name: of what, and the name."""
    for one in ast.walk(tree):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == function:
            match one.args:
                case [of, ast.Constant(str(name)), *_]:
                    yield of, name


def _imports(tree: ast.Module) -> set[str]:
    return {name for name, node in bindings(tree.body) if isinstance(node, ast.Import | ast.ImportFrom)}


def _answered(exercise: Exercise, others: Sequence[tuple[CellSource, str]]) -> set[str]:
    """The names of earlier exercises that their own cells define, and no other cell."""
    owners: dict[str, set[str]] = {}
    for one in _before(exercise):
        for name in one.symbols:
            owners.setdefault(name, set()).add(one.id)
    cells: dict[str, set[str]] = {}
    for source, other in others:
        for name in _defined(other) & owners.keys():
            cells.setdefault(name, set()).add(source.exercise or "")
    return {name for name, of in cells.items() if of <= owners[name]}


def _defined(text: str) -> set[str]:
    """The names that a cell defines other than by an import, or as a constant, which does no work: `math = None`
    where the import failed."""
    try:
        tree = parse_source(text)
    except SyntaxError:
        return set()
    constants = {
        id(target) for one in ast.walk(tree) if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
        for target in one.targets
    }  # fmt: skip
    return {
        name for name, node in bindings(tree.body)
        if not isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in constants
    }  # fmt: skip


def _imported(text: str) -> set[str]:
    """The names that a cell imports, but for those of the notebook itself."""
    try:
        tree = parse_source(text)
    except SyntaxError:
        return set()
    own = {
        alias.asname or alias.name for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)
        and one.module == "__main__" for alias in one.names
    }  # fmt: skip
    return (defined_names(text, imports=True) & _imports(tree) - own - {"*"}) | _star_names(tree)


def _star_names(tree: ast.Module) -> set[str]:
    """The names that `from torch import *` gives."""
    found: set[str] = set()
    for one in ast.walk(tree):
        if isinstance(one, ast.ImportFrom) and one.module in STARRED and one.names[0].name == "*":
            module = STARRED[one.module]
            found |= set(getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]))
    return found


def _attributes_set(text: str, places: set[str]) -> Iterator[str]:
    """The attributes that a cell sets on one of these, or on what it imports, by an assignment or `setattr`."""
    try:
        tree = parse_source(text)
    except SyntaxError:
        return
    places = places | _imports(tree)
    for one in ast.walk(tree):
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and _root(one) in places:
            yield one.attr
    yield from (name for of, name in _attribute_calls(tree, "setattr") if _root(of) in places)


def _root(node: ast.expr) -> str:
    """`torch` of `torch.nn.Module`; "" if it is no chain of attributes."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
