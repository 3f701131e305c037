"""The solution of an exercise: the library's own source, between the marks that nbgrader's ClearSolutions looks for.

Signature and docstring are the reference's too. The stock stub (`# YOUR CODE HERE`, `raise NotImplementedError()`)
works: it is put into each function and each method of a class, so that a released class is still valid, and
`super().__init__()` and the docstrings stay. Any `c.ClearSolutions.code_stub` that raises NotImplementedError works.
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from autograder.api import Exercise
from autograder.exercises.contracts import rewrite
from course.settings import LessonError

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def solution(exercise: Exercise) -> str:
    """The exercise cell: the library's source of every symbol of the exercise, its body between nbgrader's marks."""
    parts = [_marked(exercise, symbol, reference)
             for symbol, reference in zip(exercise.symbols, exercise.references, strict=True)]  # fmt: skip
    return "\n\n\n".join(parts)


def library_source(exercise: Exercise) -> str:
    """The library's source in place of an exercise that this course leaves out, to be read and used."""
    lines = [line for line in solution(exercise).splitlines() if line.strip() not in (BEGIN, END)]
    return "\n".join(["# given in this course: read it, run it, use it below", *lines])


def _marked(exercise: Exercise, symbol: str, reference: str) -> str:
    module, _, name = reference.partition(":")
    text = _module_source(module)
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            if exercise.contract is None:
                return with_marks(node, text.splitlines())
            return _under_contract(replace(exercise, symbols=(symbol,), references=(reference,)), node, text)
    raise LessonError(f"{module} defines no function or class {symbol}; correct `references` in exercises.py")


def _under_contract(exercise: Exercise, node: ast.FunctionDef | ast.ClassDef, text: str) -> str:
    """One symbol's definition in the form of the exercise's contract, with the contract in its docstring."""
    assert exercise.contract is not None
    alone = rewrite(exercise, ast.get_source_segment(text, node) or "")
    made = next(one for one in ast.parse(alone).body if isinstance(one, ast.FunctionDef | ast.ClassDef))
    lines = alone.splitlines()
    if _is_docstring(made.body[0]):
        end = (made.body[0].end_lineno or 1) - 1
        before, quotes, _ = lines[end].rpartition('"""')
        indent = " " * made.body[0].col_offset
        told = textwrap.wrap(f"Your contract: {exercise.contract.sentence}", 120 - len(indent))
        lines[end : end + 1] = [before.rstrip(), "", *(indent + line for line in told), indent + quotes]
    whole = ast.parse("\n".join(lines)).body
    return with_marks(next(one for one in whole if isinstance(one, type(made))), lines)


def _untyped(function: ast.FunctionDef) -> str:
    """The first line of a function without types, because a notebook's cells don't import the names in annotations; the
    docstring gives the shapes."""
    bare = copy.deepcopy(function)
    bare.returns, bare.body, bare.decorator_list = None, [ast.Pass()], []
    for argument in ast.walk(bare.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return " " * function.col_offset + ast.unparse(bare).splitlines()[0]


def _untyped_variables(function: ast.FunctionDef, lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines of a function, numbered from 1, that annotate a variable, without the annotation."""
    for part in ast.walk(function):
        if isinstance(part, ast.AnnAssign) and part.value is not None and part.value.lineno == part.lineno:
            value = lines[part.lineno - 1].encode()[part.value.col_offset :].decode()
            yield part.lineno, f"{' ' * part.col_offset}{ast.unparse(part.target)} = {value}"


def with_marks(node: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> str:
    """The text of a function or class of these lines, its bodies between nbgrader's marks."""
    functions = (
        [node] if isinstance(node, ast.FunctionDef) else [n for n in node.body if isinstance(n, ast.FunctionDef)]
    )
    marks: dict[int, list[str]] = {}
    heads: dict[int, str] = {}
    gone: set[int] = set()  # further lines of a signature that is rewritten
    for function in functions:
        first, last = _body(function, lines)
        indent = " " * function.body[0].col_offset
        marks.setdefault(first, []).append(indent + BEGIN)
        marks.setdefault(last + 1, []).insert(0, indent + END)
    for function in (part for part in ast.walk(node) if isinstance(part, ast.FunctionDef)):
        if function.returns or any(isinstance(part, ast.arg) and part.annotation for part in ast.walk(function.args)):
            heads[function.lineno] = _untyped(function)
            gone |= set(range(function.lineno + 1, function.body[0].lineno))
    heads |= {line: text for function in functions for line, text in _untyped_variables(function, lines)}
    start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    end = node.end_lineno or node.lineno
    out: list[str] = []
    for number in range(start, end + 2):
        out += marks.get(number, [])
        if number <= end and number not in gone:
            out.append(heads.get(number, lines[number - 1]))
    return textwrap.dedent("\n".join(out))


def _body(function: ast.FunctionDef, lines: list[str]) -> tuple[int, int]:
    """First and last line, from 1, that a student must write, without docstring and leading `super().__init__()`."""
    body = list(function.body)
    above = function.lineno
    while body and (_is_docstring(body[0]) or ast.unparse(body[0]) == "super().__init__()"):
        above = body.pop(0).end_lineno or above
    if not body or body[0].lineno == function.lineno:
        raise LessonError(
            f"the body of {function.name} is empty or on the line of its `def`, so nothing can be cleared"
        )
    first = body[0].lineno
    while first - 1 > above and lines[first - 2].strip().startswith("#"):  # a comment above the code belongs to it
        first -= 1
    return first, function.end_lineno or first


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _module_source(module: str) -> str:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise LessonError(f"the module {module} is not installed; correct `references` in exercises.py")
    return Path(spec.origin).read_text(encoding="utf-8")
