"""Collects the parts of `my_model/` from a student's notebooks: those that passed their check, in the course's order.

A part that has not passed is imported from the library, and the file says so. Only code that stands on its own can be
moved into a module; a part that uses a name from another cell of the notebook stays the library's until it does not.
Where a course asks for an exercise under another contract, the module ends by turning the part into the course's form.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.api import Exercise
from autograder.exercises.contracts import as_checked, with_adapter
from autograder.exercises.parse import bindings, defined_names, parse_source, symbol_tables, without_magics
from course import exercises
from course.my_model.package import GIVEN, PACKAGE, ModelPart, failing_part, write_package
from tfkit_course.small_file import NOTEBOOK_BYTES, read_notebook_cells
from tfkit_lab.course import best_of, read_progress
from tfkit_lab.folders import notebooks

ALWAYS = {*dir(builtins), "__name__", "__file__"}


def collect(root: Path, run_here: list[str] | None = None) -> list[ModelPart]:
    """Write the package root/my_model and return its parts. What cannot be imported becomes the library's.

    run_here: the cells that a running notebook has executed, which its file on disk may not have yet.
    Raises ValueError where a file that the course did not write is in the way.
    """
    passed = {name for name, entry in read_progress(root).items() if _is_passed(entry)}
    cells, refused = _answers(root), dict[str, str]()
    answers = {one.id: _latest(one, run_here or []) or cells.get(one.id) for one in exercises() if one.id in passed}
    asked = as_asked(root)
    while True:
        parts = _parts(asked, passed, answers, refused)
        write_package(root / PACKAGE, parts)
        failing = failing_part(root, parts)
        if failing is None:
            return parts
        refused[failing[0].exercise.id] = f"yours cannot be imported ({failing[1]})"


def as_asked(root: Path) -> list[Exercise]:
    """The course's exercises, each under the contract that a notebook below the root asks for."""
    asked = "\n".join("".join(cell["source"]) for cells in _notebooks(root) for cell in cells)
    return [as_checked(exercise, asked) for exercise in exercises()]


def _parts(
    asked: list[Exercise], passed: set[str], answers: dict[str, str | None], refused: dict[str, str]
) -> list[ModelPart]:
    parts: list[ModelPart] = []
    for exercise in asked:
        if exercise.id not in passed:
            parts.append(ModelPart(exercise, None, "not passed yet"))
        elif exercise.id in refused:
            parts.append(ModelPart(exercise, None, refused[exercise.id]))
        else:
            parts.append(_own_part(exercise, answers[exercise.id], _known(exercise, parts)))
    return parts


def _known(exercise: Exercise, before: list[ModelPart]) -> dict[str, str]:
    """The import of each name that an answer may take from elsewhere: a lesson's first cell, a part before it, or a
    helper in an earlier answer of the same unit."""
    known = dict(GIVEN)
    for part in before:
        if part.code is not None and part.exercise.unit == exercise.unit:
            known |= {name: f"from {PACKAGE}.{part.module} import {name}" for name in defined_names(part.code)}
    return known | {symbol: f"from {PACKAGE} import {symbol}" for part in before for symbol in part.exercise.symbols}


def _own_part(exercise: Exercise, code: str | None, known: dict[str, str]) -> ModelPart:
    if code is None:
        return ModelPart(exercise, None, "your notebook has no cell with it")
    try:
        future, rest = _as_module(code)
        needed, own = _names(rest)
    except SyntaxError as error:
        return ModelPart(exercise, None, f"your cell cannot be read as Python (line {error.lineno}: {error.msg})")
    if missing := set(exercise.symbols) - own:
        return ModelPart(exercise, None, f"your cell does not define {', '.join(sorted(missing))}")
    if left := sorted(needed - own - set(known) - ALWAYS):
        return ModelPart(exercise, None, f"yours uses {', '.join(left)} from another cell")
    return ModelPart(
        exercise,
        with_adapter(exercise, rest),
        imports=(*future, *(known[name] for name in sorted(needed - own) if name in known)),
    )


def _is_passed(entry: object) -> bool:
    return isinstance(entry, dict) and "status" in entry and best_of(entry).get("status") == "passed"


def _answers(root: Path) -> dict[str, str]:
    """The source of each exercise's cell, by id, in the notebooks below the root; a damaged notebook has none."""
    found: dict[str, str] = {}
    for cells in _notebooks(root):
        for cell in cells:
            mark = cell["metadata"].get("tfkit")
            if isinstance(mark, dict) and mark.get("role") == "exercise" and isinstance(mark.get("exercise"), str):
                found[mark["exercise"]] = _python("".join(cell["source"]))
    return found


def _notebooks(root: Path) -> Iterator[list[dict[str, Any]]]:
    """The cells of each notebook below the root that can be read."""
    for path in notebooks(root):
        try:
            cells = read_notebook_cells(path, NOTEBOOK_BYTES)
        except (OSError, ValueError):
            continue
        yield cells


def _latest(exercise: Exercise, cells: list[str]) -> str | None:
    """The last of these cells that defines all that the exercise asks for."""
    return next((cell for cell in map(_python, reversed(cells)) if set(exercise.symbols) <= _defined(cell)), None)


def _python(cell: str) -> str:
    """The cell without IPython's own lines. One that is Python stays as it is: a line of it may begin with %, too."""
    try:
        parse_source(cell)
    except SyntaxError:
        return without_magics(cell)
    return cell


def _defined(cell: str) -> set[str]:
    try:
        body = parse_source(cell).body
    except SyntaxError:  # half a cell, or a line such as `files = !ls`
        return set()
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _as_module(code: str) -> tuple[list[str], str]:
    """The lines that must come first in a module, and the rest without what was only tried out.

    `raise` ends a cell; printing, showing a value and asserting change nothing that is defined.
    Raises SyntaxError for what is no Python.
    """
    lines, future, body = code.splitlines(), list[str](), parse_source(code).body
    for node in filter(lambda one: _has_its_lines(one, body), body):
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if isinstance(node, ast.Raise):
            return future, "\n".join(lines[: node.lineno - 1])
        if is_future:
            future.append(ast.unparse(node))
        if is_future or _only_shows(node):
            for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[number] = ""
    return future, "\n".join(lines)


def _has_its_lines(node: ast.stmt, body: list[ast.stmt]) -> bool:
    """Whether no other statement is on its lines, after a semicolon."""
    end = node.end_lineno or node.lineno
    return not any(one is not node and one.lineno <= end and node.lineno <= (one.end_lineno or 0) for one in body)


def _only_shows(node: ast.stmt) -> bool:
    if any(bindings([node])):
        return False
    if isinstance(node, ast.Expr):
        call = node.value.func if isinstance(node.value, ast.Call) else None
        is_shown = isinstance(call, ast.Name) and call.id in {"print", "display"}
        return is_shown or not any(isinstance(one, ast.Call) for one in ast.walk(node.value))
    return isinstance(node, ast.Assert)


def _names(code: str) -> tuple[set[str], set[str]]:
    """The global names that the code reads, and those that it defines."""
    tables = symbol_tables(code)
    top = tables[0]
    own = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported() or one.is_namespace()}
    read = {one.get_name() for table in tables for one in table.get_symbols()
            if one.is_referenced() and (table is top or one.is_global())}  # fmt: skip
    return read, own
