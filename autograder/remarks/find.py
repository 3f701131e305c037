"""Finds remarks on an answer that is right: a suspicion from its code, and a run that confirms or refutes it."""

from __future__ import annotations

import ast
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autograder.api import Exercise, Remark
from autograder.checks.compare import compare
from autograder.checks.probe import Case, Finding
from autograder.checks.reference import reference_of
from autograder.feedback.translate import say
from autograder.remarks.spy import count_calls
from autograder.sandbox.client import StudentError

SHARED_DEFAULT = (
    "The default of `{name}` is made once and shared by all calls. Write `None`, and make a new one in the function."
)
AGAIN = "`{code}` is computed twice from the same tensors. Keep the first result in a variable."
LOOP = (
    "This loop makes more of torch's operations the longer the input is; the same result can be computed for all "
    "positions at once."
)
WRITES = (
    "Your function changes its argument `{name}`. The exercise allows that, but a caller may still need it as it was."
)
PRODUCTS = ("matmul", "mm", "bmm", "einsum", "softmax")
LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MAKERS = ("list", "dict", "set", "defaultdict", "deque", "Counter")


def find_remarks(exercise: Exercise, sources: Sequence[str], student: Any, findings: Sequence[Finding]) -> list[Remark]:
    """The remarks on the cells that answer the exercise. A failure here only costs the remark."""
    found: list[Remark] = []
    cases = [reply.probe.case for one in findings if one.check.core for reply in one.answers]
    for rule in (_shared_defaults, _products_again, _loops, _writes):
        try:
            found += rule(exercise, [ast.parse(text) for text in sources], student, cases)
        except (StudentError, SyntaxError):  # code that only a notebook can read, or a box that has ended
            continue
        except Exception:  # a fault of the grader; the student only misses a remark
            logging.getLogger(__name__).warning("no remark could be looked for in %s", exercise.id, exc_info=True)
    return found


Rule = Callable[[Exercise, Sequence[ast.Module], Any, Sequence[Case]], Iterator[Remark]]


def _functions(trees: Sequence[ast.Module]) -> Iterator[ast.FunctionDef]:
    return (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _shared_defaults(
    exercise: Exercise, trees: Sequence[ast.Module], student: Any, cases: Sequence[Case]
) -> Iterator[Remark]:
    """A list, dict or set as a default. No run is needed: it is shared, whatever the function does with it today."""
    for function in _functions(trees):
        a = function.args
        plain = [*a.posonlyargs, *a.args]
        pairs = [*zip(plain[len(plain) - len(a.defaults) :], a.defaults, strict=True)]
        pairs += [(name, value) for name, value in zip(a.kwonlyargs, a.kw_defaults, strict=True) if value is not None]
        for name, value in pairs:
            if isinstance(value, MUTABLE) or (isinstance(value, ast.Call) and _called(value) in MAKERS):
                yield Remark("shared_default", say(SHARED_DEFAULT, name=name.arg), value.lineno)


def _products_again(
    exercise: Exercise, trees: Sequence[ast.Module], student: Any, cases: Sequence[Case]
) -> Iterator[Remark]:
    """The same product twice in one function, of the same tensors when it is run."""
    suspects = [one for function in _functions(trees) for one in _repeated(function)]
    if suspects and any(_count(student, case).get("again") for case in cases[:2]):
        for node in suspects:
            yield Remark("computed_again", say(AGAIN, code=ast.unparse(node)), node.lineno)


def _repeated(function: ast.FunctionDef) -> list[ast.expr]:
    """The second of each pair of equal products, the largest only."""
    products = [node for node in ast.walk(function) if isinstance(node, ast.expr) and _is_product(node)]
    counts = Counter(map(ast.dump, products))
    twice = {text for text, number in counts.items() if number > 1}
    last = {ast.dump(node): node for node in products if ast.dump(node) in twice}
    inner = {id(part) for node in last.values() for part in ast.walk(node) if part is not node}
    return [node for node in last.values() if id(node) not in inner]


def _is_product(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    return isinstance(node, ast.Call) and _called(node) in PRODUCTS


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _loops(exercise: Exercise, trees: Sequence[ast.Module], student: Any, cases: Sequence[Case]) -> Iterator[Remark]:
    """A loop that makes more operations for a larger input, where the reference makes as many for both."""
    loops = [node for function in _functions(trees) for node in ast.walk(function) if isinstance(node, LOOPS)]
    if not loops or len(cases) < 2:
        return
    small, large = min(cases, key=Case.size), max(cases, key=Case.size)
    reference = reference_of(exercise)
    expected = [_count(reference, case).get("calls") for case in (small, large)]
    if expected[0] != expected[1]:  # the reference loops as well, or these inputs take another path
        return
    mine = [_count(student, case).get("calls", 0) for case in (small, large)]
    if mine[1] > mine[0]:
        yield Remark("loop_over_tokens", say(LOOP), getattr(loops[0], "lineno", None))


def _count(subject: Any, case: Case) -> Mapping[str, int]:
    return count_calls(subject, lambda: case.value(subject))


def _writes(exercise: Exercise, trees: Sequence[ast.Module], student: Any, cases: Sequence[Case]) -> Iterator[Remark]:
    """An argument that differs after the call, in an exercise whose checks allow that."""
    case = next((one for one in cases if one.init is None and one.tensors()), None)
    if case is None or not hasattr(student, "observe"):
        return
    seen = student.observe(case.symbol, *case.arguments(student), **case.kwargs)
    function = next((one for one in _functions(trees) if one.name == case.symbol), None)
    names = [argument.arg for argument in function.args.args] if function else []
    for place, (sent, after) in enumerate(zip(case.args, seen.args_after, strict=False)):
        if hasattr(sent, "numel") and compare(sent, after) is not None and place < len(names) and function:
            yield Remark("argument_changed", say(WRITES, name=names[place]), function.lineno)
