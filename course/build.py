"""Builds nbgrader's source notebooks from the lessons: `python -m course.build DIR [--unit NAME …]`.

A lesson (`units/NAME/lesson.py`, jupytext percent) marks each code cell with a role. Its exercise cells are empty: the
signature, the docstring and the solution are the library's own source, between the marks that nbgrader's ClearSolutions
looks for, and the check cell is added after them. The stock stub (`# YOUR CODE HERE`, `raise NotImplementedError()`)
fits: it stands in each function and in each method of a class, so that a released class is still a valid one, and
`super().__init__()` and the docstrings stay. Any `c.ClearSolutions.code_stub` that raises NotImplementedError will do.

The output is a function of the input: same bytes on every build, and a file that would not change is not written.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import textwrap
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.api import Exercise
from course import exercises as all_exercises
from course import units as unit_folders

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib  # type: ignore[no-redef]

ROLES = ("setup", "exercise", "demo", "experiment")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
CHECK_IMPORT = (
    'from autograder import check  # check("…") runs your cells in a box and says what is right and what is not'
)


class LessonError(ValueError):
    """A lesson that cannot be built; the message says which, what is wrong and what to do."""


@dataclass(frozen=True)
class Built:
    """One source notebook and whether this build changed it."""

    path: Path
    changed: bool


def build(course_dir: str | Path, units: list[str] | None = None) -> list[Built]:
    """Write `source/<unit>/<unit>.ipynb` under `course_dir` for the named units, or for all of course.toml.

    Raises LessonError for an unknown unit, a missing lesson, or a lesson whose cells do not fit its exercises.
    """
    folders = {folder.name: folder for folder in unit_folders()}
    names = list(units) if units else unit_names()
    built = []
    for name in names:
        if name not in folders:
            raise LessonError(f"no unit is called {name!r}; there are {', '.join(folders)}")
        text = nbformat.writes(notebook(folders[name])) + "\n"
        path = Path(course_dir) / "source" / name / f"{name}.ipynb"
        built.append(Built(path, _write_if_new(path, text)))
    return built


def unit_names() -> list[str]:
    """The units in the order of course.toml."""
    return [unit["name"] for unit in settings()["unit"]]


def settings() -> dict:
    """course.toml as it stands."""
    return tomllib.loads((Path(__file__).parent / "course.toml").read_text(encoding="utf-8"))


def notebook(folder: Path) -> NotebookNode:
    """The source notebook of one unit, valid by nbformat, with stable cell ids."""
    lesson = folder / "lesson.py"
    if not lesson.exists():
        raise LessonError(
            f"unit {folder.name} has no lesson.py; write one in {folder.name}/ or leave the unit out with --unit"
        )
    own = {exercise.id: exercise for exercise in all_exercises() if exercise.unit == folder.name}
    cells = _Cells(folder.name, own)
    for cell in jupytext.reads(lesson.read_text(encoding="utf-8"), fmt="py:percent").cells:
        cells.add(cell)
    if left := [name for name in own if name not in cells.done]:
        raise LessonError(f"{folder.name}/lesson.py has no exercise cell for {', '.join(left)}")
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "tfkit": {"unit": folder.name}}
    built = new_notebook(cells=cells.cells, metadata=metadata)
    nbformat.validate(built)
    return built


class _Cells:
    """Turns a lesson's cells into the notebook's, counting as it goes so that every id is stable and used once."""

    def __init__(self, unit: str, own: dict[str, Exercise]):
        self.unit, self.own = unit, own
        self.cells: list[NotebookNode] = []
        self.done: list[str] = []
        self._count: dict[str, int] = {}

    def add(self, cell: NotebookNode) -> None:
        """Append what `cell` becomes; after the title also the import of `check`."""
        if cell.cell_type == "markdown":
            self.cells.append(new_markdown_cell(cell.source, id=self._next("text")))
        else:
            self._add_code(cell.source, cell.metadata.get("role"), cell.metadata.get("exercise"))
        if len(self.cells) == 1:
            self._add_code(CHECK_IMPORT, "demo", None)

    def _add_code(self, source: str, role: str | None, exercise: str | None) -> None:
        if role not in ROLES:
            raise LessonError(
                f"{self.unit}/lesson.py: the cell {_first_line(source)!r} has role {role!r}; "
                f"use one of {', '.join(ROLES)}"
            )
        if role == "exercise":
            self._add_exercise(source, exercise)
            return
        name = self._next(role)
        metadata: dict = {"tfkit": {"role": role}}
        if role == "setup":
            metadata["nbgrader"] = _nbgrader(name, locked=True)
        self.cells.append(new_code_cell(source, id=name, metadata=metadata))

    def _add_exercise(self, source: str, exercise_id: str | None) -> None:
        if exercise_id not in self.own or exercise_id in self.done:
            raise LessonError(
                f"{self.unit}/lesson.py: exercise={exercise_id!r} is not an exercise of this unit, or comes "
                f"twice; the unit has {', '.join(self.own)}"
            )
        if source.strip():
            raise LessonError(f"{self.unit}/lesson.py: the cell of {exercise_id} must be empty, the build fills it")
        exercise = self.own[exercise_id]
        tail = exercise_id.replace(".", "-")
        for role, text, marks in (
            ("exercise", solution(exercise), _nbgrader(f"solution-{tail}", solution=True)),
            (
                "check",
                f'check("{exercise_id}")',
                _nbgrader(f"check-{tail}", grade=True, locked=True, points=exercise.points),
            ),
        ):
            metadata = {"nbgrader": marks, "tfkit": {"role": role, "exercise": exercise_id}}
            self.cells.append(new_code_cell(text, id=marks["grade_id"], metadata=metadata))
        self.done.append(exercise_id)

    def _next(self, kind: str) -> str:
        self._count[kind] = self._count.get(kind, 0) + 1
        return f"{kind}-{self._count[kind]}"


def solution(exercise: Exercise) -> str:
    """The exercise cell: every symbol of the exercise, as the library has it, its body between nbgrader's marks."""
    parts = [_marked(reference) for reference in exercise.references]
    return "\n\n\n".join(parts)


def _marked(reference: str) -> str:
    module, _, symbol = reference.partition(":")
    text = _module_source(module)
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == symbol:
            return _with_marks(node, text.splitlines())
    raise LessonError(f"{module} defines no function or class {symbol}; correct `references` in exercises.py")


def _with_marks(node: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> str:
    functions = (
        [node] if isinstance(node, ast.FunctionDef) else [n for n in node.body if isinstance(n, ast.FunctionDef)]
    )
    marks: dict[int, list[str]] = {}
    for function in functions:
        first, last = _body(function, lines)
        indent = " " * function.body[0].col_offset
        marks.setdefault(first, []).append(indent + BEGIN)
        marks.setdefault(last + 1, []).insert(0, indent + END)
    start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    end = node.end_lineno or node.lineno
    out: list[str] = []
    for number in range(start, end + 2):
        out += marks.get(number, [])
        if number <= end:
            out.append(lines[number - 1])
    return textwrap.dedent("\n".join(out))


def _body(function: ast.FunctionDef, lines: list[str]) -> tuple[int, int]:
    """First and last line, from 1, of what a student must write: no docstring, no leading `super().__init__()`."""
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


def _nbgrader(
    grade_id: str, *, grade: bool = False, solution: bool = False, locked: bool = False, points: float | None = None
) -> dict:
    marks: dict = {"grade": grade, "grade_id": grade_id, "locked": locked}
    if points is not None:
        marks["points"] = points
    return marks | {"schema_version": 3, "solution": solution, "task": False}


def _first_line(source: str) -> str:
    return source.strip().partition("\n")[0][:60]


def _write_if_new(path: Path, text: str) -> bool:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when all was built, 1 with one line on stderr's account when a lesson is at fault."""
    parser = argparse.ArgumentParser(prog="python -m course.build", description="Build nbgrader's source notebooks.")
    parser.add_argument("directory", type=Path, help="the nbgrader course directory")
    parser.add_argument("--unit", action="append", metavar="NAME", help="only this unit (may be repeated)")
    options = parser.parse_args(arguments)
    try:
        for one in build(options.directory, options.unit):
            print(f"{'built    ' if one.changed else 'unchanged'} {one.path}")
    except LessonError as error:
        parser.exit(1, f"course.build: {error}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
