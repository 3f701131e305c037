"""Right answers taken apart, so that one definition can be changed and run without compiling the others again."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

from autograder.api import Exercise
from autograder.checks.operators import NodeChange, changes
from autograder.diagnosis.loops import COUNTER, LoopCounter, counted_loops
from autograder.diagnosis.rewrites import MODULES, REWRITES, rename_variables
from autograder.exercises import injected_modules
from autograder.exercises.answers import answers

EXTRA_IMPORT = "import torch.nn.functional as F"  # for activations that the answer itself does not use
MAX_PROGRAMS = 12  # right answers that are taken apart
RESERVED_NAMES = ("self", "cls", "super", *MODULES)


class Program:
    """One answer. `own`: the symbols that the exercise asks for, which are changed before what they use; `kept`: the
    lines in which nothing is changed."""

    def __init__(self, source: str, own: tuple[str, ...], kept: frozenset[int] = frozenset()) -> None:
        self.kept = kept
        self._change: NodeChange | None = None
        self.tree = ast.parse(source)
        named = [at for at, one in enumerate(self.tree.body) if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
        self.places = sorted(named, key=lambda at: (self.tree.body[at].name not in own, at))  # type: ignore[attr-defined]
        future = [one for one in self.tree.body if isinstance(one, ast.ImportFrom) and one.module == "__future__"]
        self.future = bool(future)
        self.codes = [self._compiled(one) for one in self.tree.body if one not in future]
        self.shift = len(future)

    def _compiled(self, statement: ast.stmt, located: bool = False) -> CodeType:
        """One statement, whose loops count their turns; annotations are not evaluated, as the answer's own first line
        has it. `located`: each node has its line, so that none has to be looked for."""
        postponed = ast.fix_missing_locations(ast.ImportFrom("__future__", [ast.alias("annotations")], 0))
        head: list[ast.stmt] = [postponed] if self.future else []
        module = ast.Module([*head, statement], [])
        if not located:
            ast.fix_missing_locations(module)
        with counted_loops([statement]):
            code: CodeType = compile(module, "mutation.py", "exec", dont_inherit=True)
        return code

    def namespace(self, place: int = -1, definition: ast.stmt | None = None) -> dict[str, Any]:
        """What the answer defines, with another definition at a place. Raises what the statements raise."""
        made: dict[str, Any] = {"__name__": "mutation", COUNTER: LoopCounter()}
        exec(_always(), made)
        for at, code in enumerate(self.codes, self.shift):
            exec(self._compiled(definition, True) if at == place and definition is not None else code, made)
        return made

    def single(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(operator, namespace) of each mutant with one change."""
        for place in self.places:
            definition = self.tree.body[place]
            for change in changes(ast.Module([definition], []), REWRITES):
                if not self._is_kept(change):
                    yield from self._made(place, [change])

    def at_like_places(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The same change at all similar places of one definition, as when every residual connection is left out."""
        for place in self.places:
            groups: dict[tuple, list[NodeChange]] = {}
            for change in changes(ast.Module([self.tree.body[place]], []), REWRITES):
                groups.setdefault((change.operator, change.variant, _likeness(change.node)), []).append(change)
            for group in groups.values():
                if len(group) > 1:
                    yield from self._made(place, group)

    def renamings(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(operator, namespace) of each mutant in which one name or part is replaced by another."""
        for place in self.places:
            for change in rename_variables(self.tree.body[place]):
                if not self._is_kept(change):
                    yield from self._made(place, [change])

    @property
    def change_text(self) -> str:
        """The change of the mutant that was made last, as text, which is the same in another program."""
        return "" if self._change is None else f"{ast.dump(self._change.node)} -> {ast.dump(self._change.other)}"

    def _is_kept(self, change: NodeChange) -> bool:
        """Whether the change would be in one of the lines that are kept; of a block it is in its first line."""
        node = change.node if hasattr(change.node, "lineno") else change.parent
        first = getattr(node, "lineno", 0)
        last = first if hasattr(node, "body") else getattr(node, "end_lineno", first)
        return not self.kept.isdisjoint(range(first, last + 1))

    def _made(self, place: int, group: list[NodeChange]) -> Iterator[tuple[str, dict[str, Any]]]:
        definition = self.tree.body[place]
        for change in group:
            _locate(change)
            change.make()
        try:
            changed = definition if group[0].node is not definition else group[0].other
            made = self.namespace(place, changed)  # type: ignore[arg-type]
        except Exception:  # a change that does not compile, or that a default value does not survive
            return
        finally:
            for change in reversed(group):
                change.undo()
        self._change = group[0]
        yield group[0].operator, made


class Values:
    """A program whose expressions all pass through a function, which replaces the value of one of them."""

    def __init__(self, program: Program) -> None:
        self.active = -1
        self.edit: Callable[[Any], Any] = lambda value: value
        self.seen: dict[int, list[Any]] = {}
        self.made: dict[str, Any] = {}
        wrapper = _Wrapper()
        for place in program.places:
            wrapper.visit_definition(copy.deepcopy(program.tree.body[place]))
        self.count = wrapper.count
        changed = dict(zip(program.places, wrapper.definitions, strict=True))
        self.made = {"__name__": "mutation", COUNTER: LoopCounter()}
        exec(_always(), self.made)
        self.made["_at"] = self._at
        for at, code in enumerate(program.codes, program.shift):
            exec(program._compiled(changed[at]) if at in changed else code, self.made)

    def _at(self, number: int, value: Any) -> Any:
        if number == self.active:
            return self.edit(value)
        if self.active < 0:
            self.seen[number] = [*self.seen.get(number, [])[:1], value]  # the first and the last
        return value

    def places(self) -> list[int]:
        """The numbers of what was computed, in time; a variable that is read only once is what was put into it."""
        by_object: dict[int, list[int]] = {}
        for number, values in self.seen.items():
            by_object.setdefault(id(values[-1]), []).append(number)
        twice = {group[1] for group in by_object.values() if len(group) == 2}
        return [number for number in self.seen if number not in twice]


class _Wrapper(ast.NodeTransformer):
    """Passes each expression in a function's body through `_at`, with a number of its own."""

    def __init__(self) -> None:
        self.count = 0
        self.definitions: list[ast.stmt] = []

    def visit_definition(self, definition: ast.stmt) -> None:
        """One function or class at the top."""
        self.definitions.append(self.visit(definition))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Wrap only the body, neither annotations nor defaults."""
        node.body = [self.visit(one) for one in node.body]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Wrap only the methods."""
        node.body = [self.visit(one) if isinstance(one, ast.FunctionDef) else one for one in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Wrap only the value, not the annotation."""
        node.value = self.visit(node.value) if node.value is not None else None
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Leave a formatted string unchanged."""
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Wrap the arguments and the result; the called function itself is no value to change."""
        if isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
        node.args = [self.visit(one) for one in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        named = isinstance(node.func, ast.Name) and node.func.id == "super"
        return node if named else self._wrapped(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Wrap a variable that is read."""
        return node if node.id in RESERVED_NAMES or not isinstance(node.ctx, ast.Load) else self._wrapped(node)

    def _expression(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        return self._wrapped(node) if isinstance(getattr(node, "ctx", ast.Load()), ast.Load) else node

    visit_BinOp = visit_UnaryOp = visit_Compare = visit_BoolOp = visit_IfExp = visit_Subscript = _expression
    visit_ListComp = _expression

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Wrap an attribute that is read, except those of modules, such as `torch.bool`."""
        if isinstance(node.value, ast.Name) and node.value.id in MODULES:
            return node
        return self._expression(node)

    def _wrapped(self, node: Any) -> ast.AST:
        self.count += 1
        return ast.Call(ast.Name("_at", ast.Load()), [ast.Constant(self.count - 1), node], [])


def programs(exercise: Exercise) -> list[Program]:
    """The reference and our right answers, which are written in other ways."""
    return list(_programs(exercise))


@lru_cache(maxsize=16)
def _programs(exercise: Exercise) -> tuple[Program, ...]:
    texts = [injected_modules.source([exercise])[0]]
    texts += [path.read_text(encoding="utf-8") for path in answers(exercise, "right")[:MAX_PROGRAMS]]
    return tuple(Program(text, tuple(exercise.symbols)) for text in texts)


@lru_cache(maxsize=1)
def _always() -> CodeType:
    return compile(EXTRA_IMPORT, "mutation.py", "exec")


def _locate(change: NodeChange) -> None:
    """Gives each new node of a change the line of the node that it replaces."""
    where = next((one for one in (change.node, change.parent) if hasattr(one, "lineno")), None)
    line = 1 if where is None else where.lineno
    for one in ast.walk(change.other):
        if "lineno" in one._attributes and not hasattr(one, "lineno"):
            one.lineno = one.end_lineno = line  # type: ignore[attr-defined]
            one.col_offset = one.end_col_offset = 0  # type: ignore[attr-defined]


def _likeness(node: ast.AST) -> str:
    """The same for places where a mutation would be made in the same way: two sums, two calls of one function."""
    if isinstance(node, ast.Call):
        func = node.func
        return f"call {func.attr if isinstance(func, ast.Attribute) else ast.unparse(func)}"
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp)):
        return f"{type(node).__name__} {type(node.op).__name__}"
    if isinstance(node, ast.Attribute):
        return f"part {node.attr}"
    return (
        f"{type(node).__name__} {getattr(node, 'value', '')!r}"
        if isinstance(node, ast.Constant)
        else type(node).__name__
    )
