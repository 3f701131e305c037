"""Prints each student's own numbers (autograder.exercises.variants): `python -m course.variants 02-masks ada ben`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from autograder.exercises.variants import variant
from autograder.lint.notebook import code, tree
from course import units
from course.notebook import source_notebook
from course.settings import LessonError
from tfkit_course import replace_unencodable
from tfkit_course.command_line import make_parser


def choices(folder: Path) -> dict[str, Sequence[Any]]:
    """The values from which `variant(…)` chooses in the unit's lesson. Raises LessonError for one that is not a plain
    list or range."""
    found: dict[str, Sequence[Any]] = {}
    for cell in code(source_notebook(folder)):
        for node in (node for top in tree(cell) for node in ast.walk(top) if isinstance(node, ast.Call)):
            if ast.unparse(node.func) == "variant":
                if not node.args or ast.unparse(node.args[0]) != repr(folder.name):
                    raise LessonError(f"{folder.name}, {cell.id}: variant(…) must begin with the unit's name")
                found |= {str(one.arg): _literal(folder.name, one) for one in node.keywords}
    return found


def _literal(unit: str, keyword: ast.keyword) -> Sequence[Any]:
    value = keyword.value
    try:
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "range":
            return range(*(ast.literal_eval(argument) for argument in value.args))
        return list(ast.literal_eval(value))
    except (ValueError, TypeError):
        raise LessonError(
            f"{unit}: variant(… {keyword.arg}={ast.unparse(value)}): write a list or a range of plain values"
        ) from None


def table(folder: Path, students: Sequence[str]) -> Table:
    """A row for each student. Raises LessonError if the unit has no variants."""
    of = choices(folder)
    if not of:
        raise LessonError(f"{folder.name} is the same for all students: no cell of it calls variant(…)")
    shown = Table("student", *of, title=folder.name, title_justify="left")
    for student in students:
        shown.add_row(student, *(str(value) for value in vars(variant(folder.name, student, **of)).values()))
    return shown


def main(arguments: list[str] | None = None) -> int:
    """The command line; exits with 1 and one line on stderr if there is nothing to show."""
    replace_unencodable()
    parser = make_parser(
        "course.variants",
        """
        Print the numbers that a unit with variants gives to each student, as a table. A student's numbers depend only
        on the account's name.
        """,
        exits={0: "done", 1: "there is nothing to show; one line on standard error says why"},
        examples=("python -m course.variants 02-masks ada grace",),
    )
    parser.add_argument("unit", metavar="UNIT", help="the unit's name, such as 03-heads")
    parser.add_argument("students", nargs="+", metavar="STUDENT", help="account names on the machine or the hub")
    options = parser.parse_args(arguments)
    folders = {folder.name: folder for folder in units()}
    if options.unit not in folders:
        parser.exit(1, f"course.variants: no unit is called {options.unit!r}; available: {', '.join(folders)}\n")
    try:
        Console(highlight=False).print(table(folders[options.unit], options.students))
    except LessonError as error:
        parser.exit(1, f"course.variants: {error}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
