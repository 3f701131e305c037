"""The orders of an answer's statements that data flow says are equivalent, found by reading the code.

Two statements of one body may be exchanged if neither binds a name that the other reads or binds. Whatever may have
another effect (a change in place, a call whose result is not used, a random draw, leaving the body) stays where it is.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.exercises.parse import DEFINITIONS, bindings, is_in_place_method
from autograder.ordering.lines import CodeLine, indent, statements

LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)
RANDOM = ("rand", "normal", "multinomial", "dropout", "bernoulli", "shuffle", "sample", "generator")
MOST_INNER = 200  # orders of a body that are combined with those of what is around it


@dataclass(frozen=True)
class Effects:
    """What running a statement reads and binds; `fixed`: it has other effects, so it keeps its place."""

    reads: frozenset[str]
    binds: frozenset[str]
    fixed: bool

    def conflicts(self, other: Effects) -> bool:
        """Whether the order of the two may matter."""
        if self.fixed or other.fixed:
            return True
        return bool(self.binds & (other.reads | other.binds) or other.binds & self.reads)


def effects(statement: ast.stmt) -> Effects:
    """The effects of one statement, with all that it contains."""
    if isinstance(statement, DEFINITIONS):  # what is inside runs later
        outside = [*statement.decorator_list, *getattr(statement, "bases", []), *_defaults(statement)]
        reads = {node.id for part in outside for node in ast.walk(part) if isinstance(node, ast.Name)}
        return Effects(frozenset(reads), frozenset({statement.name}), False)
    nodes = list(ast.walk(statement))
    reads = {node.id for node in nodes if isinstance(node, ast.Name)}
    return Effects(frozenset(reads), frozenset(name for name, _ in bindings([statement])), any(map(_acts, nodes)))


def _defaults(statement: ast.stmt) -> list[ast.expr]:
    arguments = getattr(statement, "args", None)
    return [one for one in (*arguments.defaults, *arguments.kw_defaults) if one] if arguments else []


def _acts(node: ast.AST) -> bool:
    """Whether a part of a statement may do more than to compute a value and bind a name."""
    if isinstance(node, (*LEAVES, ast.Expr, ast.AugAssign, ast.Delete, ast.Assert, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, ast.Attribute | ast.Subscript):
        return isinstance(node.ctx, ast.Store | ast.Del)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return is_in_place_method(name) or any(word in name.lower() for word in RANDOM)
    return False


def orders(lines: Sequence[CodeLine], start: int, end: int, most: int) -> list[tuple[int, ...]]:
    """Equivalent orders of `lines[start:end]` as their indices, at most so many, without the order that they have.

    lines: of a whole program. Bodies inside are put in other orders as well.
    """
    return list(itertools.islice(_orders(lines, start, end), 1, most + 1))


def _orders(lines: Sequence[CodeLine], start: int, end: int) -> Iterator[tuple[int, ...]]:
    """All orders of a run of lines, that which it has first."""
    parts = statements(lines, start, end)
    does = [_effects_of(lines, part) for part in parts]
    needs = [{one for one in range(n) if does[n].conflicts(does[one])} for n in range(len(parts))]
    inner = [list(itertools.islice(_of_statement(lines, *part), MOST_INNER)) for part in parts]

    def go_on(left: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if not left:
            yield ()
        for n in left:
            if needs[n].isdisjoint(left):
                for rest in go_on(tuple(one for one in left if one != n)):
                    yield from (own + rest for own in inner[n])

    yield from go_on(tuple(range(len(parts))))


def _of_statement(lines: Sequence[CodeLine], start: int, end: int) -> Iterator[tuple[int, ...]]:
    """All orders of one statement's lines: each header stays before its body."""
    pieces: list[list[tuple[int, ...]]] = []
    while start < end:
        body = start + 1
        stop = next((n for n in range(body, end) if lines[n].level <= lines[start].level), end)
        pieces += [[(start,)], list(itertools.islice(_orders(lines, body, stop), MOST_INNER)) if body < stop else [()]]
        start = stop
    yield from (tuple(itertools.chain(*chosen)) for chosen in itertools.product(*pieces))


def _effects_of(lines: Sequence[CodeLine], part: tuple[int, int]) -> Effects:
    start, end = part
    rows = [indent(line.text, line.level - lines[start].level) for line in lines[start:end]]
    return effects(ast.parse("\n".join(rows)).body[0])
