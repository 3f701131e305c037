"""Builds nbgrader's source notebooks from the lessons: `python -m course.build DIR [--unit NAME …]`.

A lesson (`units/NAME/lesson.py`, jupytext percent) marks each code cell with a role. Its exercise cells are empty: the
signature, the docstring and the solution are the library's own source, between the marks that nbgrader's ClearSolutions
looks for, and the check cell is added after them. The stock stub (`# YOUR CODE HERE`, `raise NotImplementedError()`)
works: it is put into each function and each method of a class, so that a released class is still valid, and
`super().__init__()` and the docstrings stay. Any `c.ClearSolutions.code_stub` that raises NotImplementedError works.

A cell with `role="predict"` is one call `predict("02.mask", …)` (tfkit_lab.predict), below its introduction; a
later cell has to compare it with the result, `predicted("02.mask").compare(…)`. The imports are added here.

A cell with `role="project" project="a-name" points=10` is code of the student's own that no exercise grades: nbgrader's
manually graded answer. Code between the solution marks is not released; `autograder capstone` measures the capstone's.

A markdown cell with `role="task" task="a-name" points=2` is a question that a person marks: nbgrader's task cell. What
stands in it between `### BEGIN MARK SCHEME` and `### END MARK SCHEME` is for markers only, and is not released.

Which units and exercises, for how many points, due when: `DIR/course.toml`, if there is one (see course.settings).

The output is a function of the input: same bytes on every build, and a file that would not change is not written.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.util
import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder import error_messages
from autograder.api import Exercise
from autograder.help_format import make_parser
from autograder.nbgrader import config
from course import all_exercises, glossary
from course import units as unit_folders
from course.settings import LessonError, Unit, language_of, read
from tfkit_course import replace_unencodable

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

DUE_RECORD = ".due.json"  # the due dates that the last build wrote into the gradebook
ENGLISH = "en"  # the language of the lessons
ROLES = ("setup", "exercise", "demo", "experiment", "predict")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
SCHEME = ("### BEGIN MARK SCHEME", "### END MARK SCHEME")
ANSWER = "*Your answer, in two to five sentences. It is read and marked by a person.*"
PREDICT_IMPORT = "from tfkit_lab.predict import predict"
MADE_IMPORT = "from tfkit_lab.predict import predictions_made"
PREDICTIONS_COUNT = """## Your predictions

Having predicted earns points; being right does not. The cell below counts the predictions of this unit."""
COMPARE_IMPORT = "from tfkit_lab.predict import predicted"
COMPARED = re.compile(r"predicted\(\"([^\"]+)\"\)")
COMPARING = re.compile(r"^(\w+ = )?predicted\(", re.MULTILINE)
CHECK_IMPORT = (
    'from autograder import check  # check("…") runs your cells once more and says what is right and what is not'
)


@dataclass(frozen=True)
class BuiltNotebook:
    """One source notebook and whether this build changed it."""

    path: Path
    changed: bool


def build(course_dir: str | Path, units: list[str] | None = None, language: str | None = None) -> list[BuiltNotebook]:
    """Write `source/<unit>/<unit>.ipynb` under `course_dir` for the named units, or for all of course.toml.

    language: gettext's code, by default course.toml's; texts without a translation stay in English (course.translate).
    Raises LessonError for an unknown unit or language, a missing lesson, or one whose cells do not fit its exercises.
    """
    from course.translate import in_language  # that module imports this one

    folders = {folder.name: folder for folder in unit_folders()}
    settings = {unit.name: unit for unit in read(course_dir)}
    language = language or language_of(course_dir)
    known = {path.stem for folder in folders.values() for path in folder.glob("locale/*.po")}
    if language and language not in known | {ENGLISH}:
        raise LessonError(f"no unit is translated into {language!r}; available: {', '.join(sorted(known))} and "
                          f"{ENGLISH}; `python -m course.translate` starts a new language")  # fmt: skip
    names = list(units) if units else list(settings)
    built = []
    for name in names:
        if name not in folders:
            raise LessonError(f"no unit is called {name!r}; available: {', '.join(folders)}")
        made = in_language(folders[name], notebook(folders[name], settings.get(name)), language)
        text = nbformat.writes(made) + "\n"
        path = Path(course_dir) / "source" / name / f"{name}.ipynb"
        built.append(BuiltNotebook(path, _write_if_new(path, text)))
    return built


def unit_names(course_dir: str | Path | None = None) -> list[str]:
    """The units in the order of course.toml."""
    return [unit.name for unit in read(course_dir)]


def notebook(folder: Path, unit: Unit | None = None) -> NotebookNode:
    """The source notebook of one unit as the course gives it (complete where `unit` is None), with stable cell ids."""
    lesson = folder / "lesson.py"
    if not lesson.exists():
        raise LessonError(
            f"unit {folder.name} has no lesson.py; write one in {folder.name}/ or leave the unit out with --unit"
        )
    own = {exercise.id: exercise for exercise in all_exercises() if exercise.unit == folder.name}
    cells = _Cells(unit or Unit(name=folder.name), own)
    for cell in jupytext.reads(lesson.read_text(encoding="utf-8"), fmt="py:percent").cells:
        cells.add(cell)
    cells.add_points_for_predictions()
    cells.add_glossary()
    if left := [name for name in cells.predictions if name not in cells.compared]:
        how = f'guess = predicted("{left[0]}") and guess.compare(…)'
        raise LessonError(f"{folder.name}/lesson.py never compares {left[0]}: write {how} into a later cell")
    if left := [name for name in own if name not in cells.done]:
        raise LessonError(f"{folder.name}/lesson.py has no exercise cell for {', '.join(left)}")
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    planned = {} if unit is None else {"minutes": unit.minutes, "due": unit.due.isoformat() if unit.due else None}
    shown = {key: value for key, value in planned.items() if value is not None}  # the course's home page shows them
    counted: dict[str, Any] = {"exercises": cells.to_write}  # the panel counts these, even if a student loses cells
    counted["titles"] = {name: own[name].title for name in cells.to_write}  # and calls them as their verdicts do
    if cells.predictions:
        counted["predictions"] = cells.predictions
    tfkit = {"unit": folder.name, **counted, **shown}
    from ipykernel.ipkernel import IPythonKernel  # imported here, because it loads half of Jupyter

    language = dict(IPythonKernel.language_info)  # whole, or JupyterLab fills it in and the notebook counts as changed
    metadata = {"kernelspec": kernel, "language_info": language, "tfkit": tfkit}
    built = new_notebook(cells=cells.cells, metadata=metadata)
    nbformat.validate(built)
    return built


class _Cells:
    """Turns a lesson's cells into the notebook's, with counters so that every id is stable and used once."""

    def __init__(self, settings: Unit, own: dict[str, Exercise]):
        self.settings, self.unit, self.own = settings, settings.name, own
        self.cells: list[NotebookNode] = []
        self.done: list[str] = []
        self.to_write: list[str] = []  # of these, the ones that students write
        self.predictions: list[str] = []
        self.compared: set[str] = set()
        self._count: dict[str, int] = {}

    def add(self, cell: NotebookNode) -> None:
        """Append the cells that `cell` becomes; after the title also the import of `check`."""
        if cell.cell_type == "markdown" and cell.metadata.get("role") == "task":
            self._add_task(cell.source, str(cell.metadata.get("task", "")), cell.metadata.get("points"))
        elif cell.cell_type == "markdown":
            self.cells.append(new_markdown_cell(cell.source, id=self._next("text")))
        elif cell.metadata.get("role") == "project":
            self._add_project(cell.source, str(cell.metadata.get("project", "")), cell.metadata.get("points"))
        else:
            self._add_code(cell.source, cell.metadata.get("role"), cell.metadata.get("exercise"))
        if len(self.cells) == 1:
            self._add_code(CHECK_IMPORT, "demo", None)

    def add_points_for_predictions(self) -> None:
        """Add the graded cell that counts predictions, if the course gives points for them."""
        if not self.settings.predictions:
            return
        if not self.predictions:
            where = f"unit {self.unit} has predictions = {self.settings.predictions:g} in course.toml"
            raise LessonError(f"{where}, but its lesson asks for no prediction: delete the line")
        names = ", ".join(f'"{name}"' for name in self.predictions)
        marks = _nbgrader("predictions", grade=True, locked=True, points=self.settings.predictions)
        source = f"{MADE_IMPORT}\n\npredictions_made({names})"
        self.cells.append(new_markdown_cell(PREDICTIONS_COUNT, id="predictions-count"))
        metadata = {"nbgrader": marks, "tfkit": {"role": "predictions"}}
        self.cells.append(new_code_cell(source, id=marks["grade_id"], metadata=metadata))

    def add_glossary(self) -> None:
        """Add the unit's glossary at its end, and a note about it on the first page."""
        prose = "\n".join(cell.source for cell in self.cells if cell.cell_type == "markdown")
        if words := glossary.section(self.unit, prose):
            self.cells[0].source += f"\n\n{glossary.POINTER}"
            self.cells.append(new_markdown_cell(words, id="glossary"))

    def _add_code(self, source: str, role: str | None, exercise: str | None) -> None:
        if role not in ROLES:
            raise LessonError(
                f"{self.unit}/lesson.py: the cell {_first_line(source)!r} has role {role!r}; "
                f"use one of {', '.join(ROLES)}"
            )
        if role == "exercise":
            self._add_exercise(source, exercise)
            return
        if role == "predict":
            self._add_prediction(source)
            return
        if compared := COMPARED.findall(source):
            self.compared |= set(compared)
            source = COMPARING.sub(rf"{COMPARE_IMPORT}\n\g<0>", source, count=1)
        name = self._next(role)
        metadata: dict = {"tfkit": {"role": role}}
        if role == "setup":
            metadata["nbgrader"] = _nbgrader(name, locked=True)
        self.cells.append(new_code_cell(source, id=name, metadata=metadata))

    def _add_prediction(self, source: str) -> None:
        """Add the call with its import, so that the cell also runs in a fresh kernel."""
        where = f"{self.unit}/lesson.py: the prediction {_first_line(source)!r}"
        names = re.findall(r"^predict\(\s*\"([^\"]+)\"", source, re.MULTILINE)
        if len(names) != 1 or not names[0].startswith(f"{self.unit.partition('-')[0]}."):
            raise LessonError(f'{where} must be one call, predict("{self.unit.partition("-")[0]}.a-name", …)')
        if names[0] in self.predictions:
            raise LessonError(f"{where} is used twice: give each its own name")
        self.predictions.append(names[0])
        metadata = {"tfkit": {"role": "predict", "prediction": names[0]}}
        text = f"{PREDICT_IMPORT}\n\n{source}"
        self.cells.append(new_code_cell(text, id=f"predict-{names[0].partition('.')[2]}", metadata=metadata))

    def _add_task(self, source: str, name: str, points: object) -> None:
        """Add the question, followed by a cell for the student's answer."""
        where = f"{self.unit}/lesson.py: the task {name or _first_line(source)!r}"
        marks = _nbgrader(f"task-{name}", locked=True, task=True, points=points if _is_number(points) else None)
        if not name or "points" not in marks:
            raise LessonError(f'{where} needs a task and points on its line, such as task="a-name" points=2')
        if any(source.count(mark) != 1 for mark in SCHEME):
            raise LessonError(f"{where} needs one mark scheme, between {' and '.join(SCHEME)}")
        if any(cell.id == marks["grade_id"] for cell in self.cells):
            raise LessonError(f"{where} is used twice: give each its own name")
        metadata = {"nbgrader": marks, "tfkit": {"role": "task"}}
        self.cells.append(new_markdown_cell(source, id=marks["grade_id"], metadata=metadata))
        self.cells.append(new_markdown_cell(ANSWER, id=f"answer-{name}"))

    def _add_project(self, source: str, name: str, points: object) -> None:
        """Add a cell for the student's code that is graded manually or by a separate command."""
        where = f"{self.unit}/lesson.py: the project {name or _first_line(source)!r}"
        marks = _nbgrader(f"project-{name}", points=points if _is_number(points) else None, grade=True, solution=True)
        if not name or "points" not in marks:
            raise LessonError(f'{where} needs a project and points on its line, such as project="a-name" points=10')
        if not source.count(BEGIN) or source.count(BEGIN) != source.count(END):
            raise LessonError(f"{where} needs a solution, between {BEGIN} and {END}")
        if any(cell.id == marks["grade_id"] for cell in self.cells):
            raise LessonError(f"{where} is used twice: give each its own name")
        metadata = {"nbgrader": marks, "tfkit": {"role": "project"}}
        self.cells.append(new_code_cell(source, id=marks["grade_id"], metadata=metadata))

    def _add_exercise(self, source: str, exercise_id: str | None) -> None:
        if exercise_id not in self.own or exercise_id in self.done:
            raise LessonError(
                f"{self.unit}/lesson.py: exercise={exercise_id!r} is not an exercise of this unit, or comes "
                f"twice; the unit has {', '.join(self.own)}"
            )
        if source.strip():
            raise LessonError(f"{self.unit}/lesson.py: the cell of {exercise_id} must be empty: the build fills it")
        exercise = self.own[exercise_id]
        self.done.append(exercise_id)
        if not self.settings.requires(exercise):
            self._add_code(library_source(exercise), "setup", None)
            return
        self.to_write.append(exercise_id)
        tail = exercise_id.replace(".", "-")
        for role, text, marks in (
            ("exercise", solution(exercise), _nbgrader(f"solution-{tail}", solution=True)),
            (
                "check",
                f'from autograder import check\n\ncheck("{exercise_id}")',  # also runs after a restart of the kernel
                _nbgrader(f"check-{tail}", grade=True, locked=True, points=self.settings.points_of(exercise)),
            ),
        ):
            metadata = {"nbgrader": marks, "tfkit": {"role": role, "exercise": exercise_id}}
            self.cells.append(new_code_cell(text, id=marks["grade_id"], metadata=metadata))

    def _next(self, kind: str) -> str:
        self._count[kind] = self._count.get(kind, 0) + 1
        return f"{kind}-{self._count[kind]}"


def solution(exercise: Exercise) -> str:
    """The exercise cell: the library's source of every symbol of the exercise, its body between nbgrader's marks."""
    parts = [_marked(reference) for reference in exercise.references]
    return "\n\n\n".join(parts)


def library_source(exercise: Exercise) -> str:
    """The library's source in place of an exercise that this course leaves out, to be read and used."""
    lines = [line for line in solution(exercise).splitlines() if line.strip() not in (BEGIN, END)]
    return "\n".join(["# given in this course: read it, run it, use it below", *lines])


def _marked(reference: str) -> str:
    module, _, symbol = reference.partition(":")
    text = _module_source(module)
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == symbol:
            return _with_marks(node, text.splitlines())
    raise LessonError(f"{module} defines no function or class {symbol}; correct `references` in exercises.py")


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


def _with_marks(node: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> str:
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


def _nbgrader(grade_id: str, *, points: Any = None, **flags: bool) -> dict:
    """nbgrader's marks of a cell, complete; `flags` are those of grade, locked, solution and task that hold."""
    marks: dict = {"grade": False, "grade_id": grade_id, "locked": False}
    if points is not None:
        marks["points"] = points
    return marks | {"schema_version": 3, "solution": False, "task": False} | flags


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _first_line(source: str) -> str:
    return source.strip().partition("\n")[0][:60]


def set_due_dates(course_dir: str | Path, units: list[str] | None = None) -> list[str]:
    """Write the due dates of course.toml into the gradebook that nbgrader_config.py names; a line for each change.

    A date that an earlier call wrote is cleared when its line is gone. One that was entered elsewhere, such as in the
    formgrader, stays, and a line says so.
    """
    course_dir = Path(course_dir)
    chosen = [unit for unit in read(course_dir) if not units or unit.name in units]
    if not any(unit.due for unit in chosen) and not (course_dir / DUE_RECORD).exists():
        return []  # course.toml has never set a date
    record = _read_due_record(course_dir / DUE_RECORD)
    from nbgrader.api import Gradebook

    from autograder.cluster.course import settings_of, working_in

    course, messages, after = settings_of(course_dir.resolve()).coursedir, [], dict(record)
    with working_in(course_dir), Gradebook(course.db_url, course.course_id) as gradebook:
        for unit in chosen:
            messages += _set_due_date(gradebook, unit, after)
    if after != record:
        _write_if_new(course_dir / DUE_RECORD, json.dumps(after, indent=1, sort_keys=True) + "\n")
    return messages


def _read_due_record(path: Path) -> dict[str, str]:
    """Unit -> the due date that the last build wrote into the gradebook, ISO 8601 in UTC. Raises LessonError."""
    if not path.exists():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise LessonError(f"{path} cannot be read ({error}): delete it, and clear old due dates by hand") from None


def _set_due_date(gradebook: Gradebook, unit: Unit, record: dict[str, str]) -> list[str]:
    """Bring one unit's due date in the gradebook and in `record` in line with course.toml; what there is to say."""
    from nbgrader.api import MissingEntry

    due = unit.due.astimezone(UTC).replace(tzinfo=None) if unit.due else None  # as nbgrader keeps them
    try:
        before = gradebook.find_assignment(unit.name).duedate
    except MissingEntry:
        before = None
    written = record.pop(unit.name, None)
    if unit.due and due:
        record[unit.name] = due.isoformat()
        if before == due:
            return []
        gradebook.update_or_create_assignment(unit.name, duedate=due)
        return [f"due       {unit.name}: {unit.due:%Y-%m-%d %H:%M %z}"]
    if before is None:
        return []
    if written == before.isoformat():
        gradebook.update_or_create_assignment(unit.name, duedate=None)
        return [f"due       {unit.name}: none"]
    return [
        f"due       {unit.name}: the gradebook keeps {before:%Y-%m-%d %H:%M} UTC, which course.toml did not set; "
        f"`nbgrader db assignment add {unit.name}` in the course directory clears it"
    ]


def _write_if_new(path: Path, text: str) -> bool:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(path)  # replaces the file atomically
    finally:
        new.unlink(missing_ok=True)
    return True


def _parser() -> argparse.ArgumentParser:
    parser = make_parser(
        "course.build",
        """
        Build nbgrader's source notebooks from the lessons, with nbgrader_config.py and the course's secret key beside
        them. Notebooks that would stay the same are not written again; with --lite, a site for the browser is written.
        """,
        exits={
            0: "all was built",
            1: "a lesson is faulty, or a file cannot be written; one line on standard error says which",
        },
        examples=(
            "python -m course.build my-course",
            "python -m course.build my-course --unit 03-heads --language fr",
        ),
    )
    parser.add_argument(
        "directory", type=Path, metavar="COURSE_DIR", help="the nbgrader course directory; it is created if needed"
    )
    parser.add_argument("--unit", action="append", metavar="NAME", help="only this unit (may be repeated)")
    parser.add_argument(
        "--language",
        metavar="CODE",
        help="language of the notebooks, such as fr, if there is a translation (course.translate)",
    )
    lite = parser.add_argument_group("the course in a browser's tab (docs/lite.md)")
    lite.add_argument(
        "--lite", type=Path, metavar="SITE", help="also write a JupyterLite site with the students' notebooks"
    )
    lite.add_argument(
        "--wheels", type=Path, metavar="FOLDER", help="folder with wheels built for Pyodide, including torch's"
    )
    lite.add_argument(
        "--pyodide",
        type=Path,
        metavar="FOLDER",
        help="folder with Pyodide's full distribution, which is copied into the site",
    )
    return parser


def _as_given(path: Path, directory: Path) -> Path:
    """The path of a file in the course directory, beginning as the user wrote that directory."""
    return directory / path.relative_to(directory.resolve())


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when all was built, 1 with one line on stderr where a lesson or the machine is at fault."""
    replace_unencodable()
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.lite is None and (options.wheels or options.pyodide):
        parser.error("--wheels and --pyodide are only for a site: pass --lite SITE")
    try:
        for one in build(options.directory, options.unit, options.language):
            print(f"{'built    ' if one.changed else 'unchanged'} {one.path}")
        for path in config.install(options.directory):
            print(f"wrote     {_as_given(path, options.directory)}")
        for line in set_due_dates(options.directory, options.unit):
            print(line)
        if options.lite:
            from course.lite.site import write_site_of

            print(write_site_of(options.directory, options.unit, options.lite, options.wheels, options.pyodide))
    except LessonError as error:
        parser.exit(1, f"course.build: {error}\n")
    except Exception as error:
        message = error_messages.explain(error, f"the course {options.directory}")
        if message is None:
            raise
        parser.exit(1, f"course.build: {message}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
