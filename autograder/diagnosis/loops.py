"""Loops that end: programs of ours with a change are run by the hundred, and a change may make a loop endless.

Their turns are counted, and not their seconds, so that the same program is given up on every machine; those of
comprehensions over what may not end are turns, too. Only the heads of loops are exchanged, and put back once the code
is compiled: to copy each changed program would take longer than most of them run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from autograder.checks.local import LocalSubject
from autograder.exercises.parse import parse_source

MAX_TURNS = 20_000  # of all loops in one call of a program: questions are small, and right answers need a few dozen
COUNTER = "_turns"  # the name of the LoopCounter in a program
Loop = ast.For | ast.While | ast.comprehension
METHODS = {ast.For: "each", ast.While: "turn", ast.comprehension: "each_without_length"}  # of a LoopCounter


class EndlessLoop(Exception):
    """The loops of a program had MAX_TURNS turns in one call."""


class LoopCounter:
    """Counts the turns of a program's loops."""

    def __init__(self) -> None:
        self.left = MAX_TURNS

    def turn(self) -> bool:
        """True, which is counted. Raises EndlessLoop when there were too many turns."""
        self.left -= 1
        if self.left < 0:
            raise EndlessLoop(f"loops had {MAX_TURNS} turns")
        return True

    def each(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items, which are counted: a list may grow in the loop over it. Raises as `turn`."""
        for one in items:
            self.turn()
            yield one

    def each_without_length(self, items: Iterable[Any]) -> Iterable[Any]:
        """The items of a comprehension, which are counted if they have no length: it changes nothing that has one,
        and right answers may look at each of half a million pairs."""
        return items if hasattr(items, "__len__") else self.each(items)


class TurnCountingSubject(LocalSubject):
    """What a program with counted loops defines; the turns are counted anew for each call.

    made: the program's namespace, with its LoopCounter as COUNTER.
    """

    def __init__(self, made: Mapping[str, Any], program: Callable[[], str] | None = None) -> None:
        self._counter: LoopCounter = made[COUNTER]
        super().__init__({name: value for name, value in made.items() if name != COUNTER}, program)

    def _named(self, name: str) -> Any:
        self._counter.left = MAX_TURNS
        return super()._named(name)


class CountedProgram(TurnCountingSubject):
    """What the program in `text` defines."""

    def __init__(self, text: str, file: str) -> None:
        made = {"__name__": "answer", COUNTER: LoopCounter()}
        tree = parse_source(text)
        with counted_loops(tree.body):
            exec(compile(tree, file, "exec", dont_inherit=True), made)
        super().__init__(made, lambda: text)


@contextmanager
def counted_loops(statements: Sequence[ast.stmt]) -> Iterator[None]:
    """Inside the block the loops in these statements count their turns, in a namespace with a LoopCounter as COUNTER:
    `while a:` is `while _turns.turn() and a:`, `for one in some:` is `for one in _turns.each(some):`, and in a
    comprehension `for one in some` is `for one in _turns.each_without_length(some)`."""
    before: list[tuple[Any, str, ast.expr]] = []
    for loop in _loops(statements):
        field = "test" if isinstance(loop, ast.While) else "iter"
        head: ast.expr = getattr(loop, field)
        before.append((loop, field, head))
        setattr(loop, field, _counted_head(loop, head))
    try:
        yield
    finally:
        for loop, field, head in reversed(before):
            setattr(loop, field, head)


def _counted_head(loop: Loop, head: ast.expr) -> ast.expr:
    counter = ast.Name(COUNTER, ast.Load())
    method = ast.Attribute(counter, METHODS[type(loop)], ast.Load())
    call = ast.Call(method, [] if isinstance(loop, ast.While) else [head], [])
    whole = ast.BoolOp(ast.And(), [call, head]) if isinstance(loop, ast.While) else call
    for node in (counter, method, call, whole):
        ast.copy_location(node, head)
    return whole


def _loops(statements: Sequence[ast.stmt]) -> list[Loop]:
    """The loops among these statements and in them, wherever they stand."""
    nodes = (node for one in statements for node in ast.walk(one))
    return [node for node in nodes if isinstance(node, Loop) and not getattr(node, "is_async", False)]
