"""Finds remarks on an answer that is right: a suspicion from its code, and a run that confirms or refutes it."""

from __future__ import annotations

import ast
import inspect
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from textwrap import dedent
from typing import Any

from autograder.api import Exercise, Remark
from autograder.checks.compare import compare
from autograder.checks.probe import Case, Finding
from autograder.checks.properties._spy import spy_on
from autograder.checks.reference import reference_of
from autograder.exercises.parse import parse_source
from autograder.feedback.translate import say
from autograder.remarks.spy import Count, count_calls
from autograder.sandbox.client import StudentError

SHARED_DEFAULT = (
    "The default of `{name}` is made once and shared by all calls. Write `None`, and make a new one in the function."
)
AGAIN = "`{code}` is computed twice from the same tensors. Keep the first result in a variable."
LOOP = "A loop makes more of torch's operations for a larger input; the same result can be computed without it."
WRITES = (
    "Your function changes its argument `{name}`. The exercise allows that, but a caller may still need it as it was."
)
PRODUCTS = ("matmul", "mm", "bmm", "einsum", "softmax")
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MOST_SUSPECTS = 100  # loops, or products, that are looked at; an answer with more of them gets no remark on them
MAKERS = ("list", "dict", "set", "defaultdict", "deque", "Counter")


@dataclass(frozen=True)
class StudentFunction:
    """A function in the student's cells. is_located: its lines are those of the one cell that answers the exercise, so
    that a reader knows which cell is meant."""

    node: ast.FunctionDef
    is_located: bool

    def line(self, node: ast.expr | ast.stmt) -> int | None:
        """The node's line, if a reader can find it."""
        return node.lineno if self.is_located else None

    def nodes(self) -> Iterator[ast.AST]:
        """What is in its body, but not in that of a function or a class inside."""
        waiting: list[ast.AST] = [*self.node.body]
        while waiting:
            yield (node := waiting.pop())
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                waiting += ast.iter_child_nodes(node)

    def has(self, place: str, node: ast.AST) -> bool:
        """Whether a place that was counted (`autograder.remarks.spy.Count`) is in these lines of this function."""
        name, first, line = place.rsplit(":", 2)
        begins = min([self.node.lineno, *(one.lineno for one in self.node.decorator_list)])
        inside = getattr(node, "lineno", 0) <= int(line) <= getattr(node, "end_lineno", 0)
        return (name, int(first)) == (self.node.name, begins) and inside


def find_remarks(
    exercise: Exercise, cells: Sequence[tuple[str, str]], own: Collection[str], student: Any,
    findings: Sequence[Finding],
) -> list[Remark]:  # fmt: skip
    """The remarks on an answer. cells: id and source of those that may hold it; own: ids of those that surely do.

    A failure here only costs the remark.
    """
    found: list[Remark] = []
    cases = [reply.probe.case for one in findings if one.check.core for reply in one.answers]
    try:
        functions = _functions(exercise, cells, own)
    except SyntaxError:  # code that only a notebook can read
        return found
    for rule in (_shared_defaults, _products_again, _loops, _writes):
        try:
            found += rule(exercise, functions, student, cases)
        except (StudentError, RecursionError):  # a box that has ended, or an expression too deep to be compared
            continue
        except Exception:  # a fault of the grader; the student only misses a remark
            logging.getLogger(__name__).warning("no remark could be looked for in %s", exercise.id, exc_info=True)
    return found


Rule = Callable[[Exercise, Sequence[StudentFunction], Any, Sequence[Case]], Iterator[Remark]]


def _functions(exercise: Exercise, cells: Sequence[tuple[str, str]], own: Collection[str]) -> list[StudentFunction]:
    """Raises SyntaxError."""
    trees = {id: parse_source(text) for id, text in cells}
    answers = set(own) or {id for id, tree in trees.items() if _defines(tree, exercise.symbols)}
    return [
        StudentFunction(node, answers == {id})
        for id, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]


def _defines(tree: ast.Module, symbols: Collection[str]) -> bool:
    return any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in symbols for node in tree.body)


def _shared_defaults(
    exercise: Exercise, functions: Sequence[StudentFunction], student: Any, cases: Sequence[Case]
) -> Iterator[Remark]:
    """A list, dict or set as a default. No run is needed: it is shared, whatever the function does with it today."""
    for function in functions:
        a = function.node.args
        plain = [*a.posonlyargs, *a.args]
        pairs = [*zip(plain[len(plain) - len(a.defaults) :], a.defaults, strict=True)]
        pairs += [(name, value) for name, value in zip(a.kwonlyargs, a.kw_defaults, strict=True) if value is not None]
        for name, value in pairs:
            if isinstance(value, MUTABLE) or (isinstance(value, ast.Call) and _called(value) in MAKERS):
                yield Remark("shared_default", say(SHARED_DEFAULT, name=name.arg), function.line(value))


def _products_again(
    exercise: Exercise, functions: Sequence[StudentFunction], student: Any, cases: Sequence[Case]
) -> Iterator[Remark]:
    """The same product twice in one function, of the same tensors where it is run."""
    suspects = [(function, nodes) for function in functions for nodes in _repeated(function)]
    if sum(len(nodes) for _, nodes in suspects) > MOST_SUSPECTS:
        return
    pairs = {pair for case in cases[:2] if suspects for pair in _count(student, case).again}
    named: dict[int, tuple[StudentFunction, list[ast.expr]]] = {}
    for pair in pairs:
        fitting = [one for one in suspects if _is_pair(one[0], one[1], *pair.split(" "))]
        if len(fitting) == 1:  # of several products in these lines it is not known which was made again
            named[id(fitting[0][1])] = fitting[0]
    for function, nodes in named.values():
        yield Remark("computed_again", say(AGAIN, code=ast.unparse(nodes[1])), function.line(nodes[1]))


def _is_pair(function: StudentFunction, nodes: Sequence[ast.expr], first: str, second: str) -> bool:
    """Whether the two places are those of two different ones of these nodes."""
    there, again = ([node for node in nodes if function.has(place, node)] for place in (first, second))
    return any(one is not other for one, other in product(there, again))


def _repeated(function: StudentFunction) -> list[list[ast.expr]]:
    """The products of the same text, in the order of the text: the innermost only, since those are what is compared."""
    found: dict[str, list[Any]] = {}
    for node in filter(_is_product, function.nodes()):
        if not any(map(_is_product, islice(ast.walk(node), 1, None))):
            found.setdefault(ast.dump(node), []).append(node)
    return [sorted(nodes, key=lambda node: (node.lineno, node.col_offset)) for nodes in found.values() if nodes[1:]]


def _is_product(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    return isinstance(node, ast.Call) and _called(node) in PRODUCTS


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _loops(
    exercise: Exercise, functions: Sequence[StudentFunction], student: Any, cases: Sequence[Case]
) -> Iterator[Remark]:
    """A loop that makes more operations for a larger input, where the reference makes as many without a loop."""
    loops = [(function, node) for function in functions for node in function.nodes() if isinstance(node, LOOPS)]
    reference = reference_of(exercise)
    if not 0 < len(loops) <= MOST_SUSPECTS or any(
        _has_loop(reference.namespace[symbol]) for symbol in exercise.symbols
    ):
        return
    for small, large in _of_one_kind(cases):
        expected = [_operations(reference, case) for case in (small, large)]
        if expected[0] != expected[1] or not expected[0]:  # the reference takes more steps as well, or none of torch's
            continue
        mine = [_count(student, case) for case in (small, large)]
        grown = [one for one in loops if _made_in(*one, mine[1]) > _made_in(*one, mine[0])]
        if grown:
            function, node = grown[0]
            yield Remark("loop_over_input", say(LOOP), function.line(node) if len(grown) == 1 else None)
            return


def _of_one_kind(cases: Sequence[Case]) -> Iterator[tuple[Case, Case]]:
    """The smallest and the largest of the cases that call the same thing with arguments of the same types."""
    kinds: dict[tuple[Any, ...], list[Case]] = {}
    for case in cases:
        types = (*map(type, case.args), *((name, type(value)) for name, value in sorted(case.kwargs.items())))
        kinds.setdefault((case.symbol, case.method, types), []).append(case)
    for group in kinds.values():
        small, large = min(group, key=Case.size), max(group, key=Case.size)
        if small.size() < large.size():
            yield small, large


def _made_in(function: StudentFunction, node: ast.AST, count: Count) -> int:
    """How many operations were made while the function was in these lines."""
    return sum(number for place, number in count.lines.items() if function.has(place, node))


def _has_loop(thing: Any) -> bool:
    return any(isinstance(node, LOOPS) for node in ast.walk(ast.parse(dedent(inspect.getsource(thing)))))


def _operations(subject: Any, case: Case) -> int:
    """How many of torch's operations an answer to this case takes."""
    return int(spy_on(subject, lambda: case.value(subject))["calls"])


def _count(subject: Any, case: Case) -> Count:
    return count_calls(subject, lambda: case.value(subject))


def _writes(
    exercise: Exercise, functions: Sequence[StudentFunction], student: Any, cases: Sequence[Case]
) -> Iterator[Remark]:
    """An argument that differs after the call, in an exercise whose checks allow that."""
    case = next((one for one in cases if one.init is None and one.tensors()), None)
    if case is None or not hasattr(student, "observe"):
        return
    seen = student.observe(case.symbol, *case.arguments(student), **case.kwargs)
    function = next((one for one in functions if one.node.name == case.symbol), None)
    names = [argument.arg for argument in function.node.args.args] if function else []
    for place, (sent, after) in enumerate(zip(case.args, seen.args_after, strict=False)):
        if hasattr(sent, "numel") and compare(sent, after) is not None and place < len(names) and function:
            yield Remark("argument_changed", say(WRITES, name=names[place]), function.line(function.node))
