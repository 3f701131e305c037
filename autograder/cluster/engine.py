"""The source files that grading consists of, found by following imports, so that no list of them can fall behind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
ROOTS = (
    "cluster/job.py",
    "grade/run.py",  # BoxedExecute names it in a setting
    # folders whose modules are found by file name, or named by units, entry points and `autograder corpus`
    "checks",
    "diagnosis",
    "localize",
    "sandbox",
)
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?:autograder|\.).*?[ \t]import[ \t]*(?:\([^)]*\)|.*)|import[ \t].*autograder.*)$",
    re.MULTILINE,
)


@lru_cache(maxsize=4)
def engine_files(package: Path = PACKAGE) -> tuple[Path, ...]:
    """All files of `package` that ROOTS import, directly or not, at the top or within functions; sorted.

    A module counts with the packages that it is in, since importing it runs their `__init__.py`.
    """
    found: set[Path] = set()
    due = [path for root in ROOTS for path in source_files(package / root)]
    while due:
        path = due.pop()
        if path not in found:
            found.add(path)
            due += [file for name in _imported_names(path, package) for file in _files_of(name, package)]
    return tuple(sorted(found))


def source_files(path: Path) -> list[Path]:
    """The Python files in this folder and below it, sorted, or this file alone."""
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def _imported_names(path: Path, package: Path) -> Iterator[str]:
    """The dotted names that a module imports; `from a import b` may import the module a.b."""
    here = path.parent.relative_to(package.parent).parts
    text = path.read_text(encoding="utf-8")
    # what the package's own __init__.py imports within functions runs in a student's kernel, not in the grader
    nodes = ast.parse(text).body if path.parent == package and path.name == "__init__.py" else import_statements(text)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*here[: len(here) - node.level + 1]] if node.level else []
            base += node.module.split(".") if node.module else []
            yield from (".".join([*base, alias.name]) for alias in node.names)


def import_statements(text: str) -> Iterable[ast.AST]:
    """The nodes of a module's source that import from this package, maybe among others.

    Statements are parsed alone, which takes a hundredth of the time: each worker waits for it before it grades.
    """
    try:
        return [node for match in IMPORT.finditer(text) for node in ast.parse(match.group().strip()).body]
    except SyntaxError:  # a sentence that begins so, or a statement over lines that the expression does not know
        return ast.walk(ast.parse(text))


def _files_of(name: str, package: Path) -> Iterator[Path]:
    """The files that importing this name runs; none for a name of another package."""
    parts = name.split(".")
    if parts[0] != package.name:
        return
    for number in range(1, len(parts) + 1):
        place = package.parent.joinpath(*parts[:number])
        yield from (file for file in (place / "__init__.py", place.with_suffix(".py")) if file.is_file())
