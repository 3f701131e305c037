"""An exercise as students see it: its section of the lesson, its signatures and docstrings.

Everything is read from files with `ast` and never imported. A statement is assembled from the public parts only, so no
line of a function's body can be in it.
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from autograder.api import Exercise

STUB = "raise NotImplementedError"
_MARKER = re.compile(r"^# %%(?P<kind> \[markdown\])?(?P<rest>.*)$")
_EXERCISE = re.compile(r'exercise="([^"]+)"')
_SECTION = re.compile(r"(?m)^(?=## )")
PARSING = threading.Lock()


@dataclass(frozen=True)
class Statement:
    """The text of an exercise: `lesson` is Markdown (with shapes, as in the docstrings), `code` has stubs."""

    lesson: str
    code: str


class StatementError(RuntimeError):
    """A file of the exercise cannot be read; the message says which."""


def statement_of(exercise: Exercise) -> Statement:
    """The exercise as a student sees it. Raises StatementError if a file of the exercise cannot be read."""
    return Statement(_lesson(exercise), "\n\n\n".join(stub(reference) for reference in exercise.references))


def setup_of(exercise: Exercise) -> str:
    """The code of the lesson's set-up cells before the exercise; empty where there is no lesson."""
    path = _lesson_file(exercise)
    code: list[str] = []
    for is_text, marker, source in _cells(path.read_text(encoding="utf-8")) if path else ():
        if exercise.id in _EXERCISE.findall(marker):
            break
        if not is_text and 'role="setup"' in marker:
            code.append(source)
    return "\n\n".join(code)


@lru_cache(maxsize=256)
def stub(reference: str) -> str:
    """The signature and the docstrings of `module:name`, with a stub for each body.

    Raises StatementError if a file of the exercise cannot be read.
    """
    node = copy.deepcopy(definition(reference))
    if isinstance(node, ast.FunctionDef):
        return ast.unparse(_with_stub(node))
    kept: list[ast.stmt] = _docstring(node)
    kept += [_with_stub(part) for part in node.body if isinstance(part, ast.FunctionDef)]
    node.body, node.decorator_list = kept, []
    return ast.unparse(node)


def _with_stub(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function without types, decorators and body, as in a released notebook."""
    given = [part for part in function.body if ast.unparse(part) == "super().__init__()"]
    function.body = [*_docstring(function), *given, *parse(STUB).body]
    function.returns, function.decorator_list = None, []
    for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return function


def _docstring(node: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
    return node.body[:1] if ast.get_docstring(node) is not None else []


def parse(source: str) -> ast.Module:
    """As `ast.parse`, but in one thread at a time: CPython 3.11 counts the recursion of all threads together, and then
    raises SystemError now and again."""
    with PARSING:
        return ast.parse(source)


def definition(reference: str) -> ast.FunctionDef | ast.ClassDef:
    """The function or class that `module:name` names, parsed and not imported.

    Raises StatementError if a file of the exercise cannot be read.
    """
    module, _, symbol = reference.partition(":")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise StatementError(f"the module {module} is not installed, so the exercise cannot be shown")
    for node in parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == symbol:
            return node
    raise StatementError(f"{module} defines no function or class {symbol}, so the exercise cannot be shown")


def _lesson(exercise: Exercise) -> str:
    """The text from the heading of the exercise's section to its cell."""
    path = _lesson_file(exercise)
    if path is None:
        return ""
    text: list[str] = []
    for is_text, marker, source in _cells(path.read_text(encoding="utf-8")):
        if exercise.id in _EXERCISE.findall(marker):
            return _SECTION.split("\n\n".join(text))[-1].strip()
        if is_text and "role=" not in marker:  # a cell with a role may contain a mark scheme
            text.append(source)
    raise StatementError(f"{path.parent.name}/lesson.py has no cell for {exercise.id}")


def _lesson_file(exercise: Exercise) -> Path | None:
    """The lesson's source; None where a package brings checks without a lesson."""
    path = exercise.folder / "lesson.py" if exercise.folder else None
    return path if path is not None and path.is_file() else None


def _cells(lesson: str) -> Iterator[tuple[bool, str, str]]:
    """For each cell of a lesson in the percent format: whether it is text, the rest of its marker, and its source."""
    marker, lines, is_text = "", [], False
    for line in [*lesson.splitlines(), "# %%"]:
        found = _MARKER.match(line)
        if found is None:
            lines.append(re.sub(r"^# ?", "", line) if is_text else line)
            continue
        if marker or lines:
            yield is_text, marker, "\n".join(lines).strip()
        marker, lines, is_text = found["rest"], [], found["kind"] is not None
