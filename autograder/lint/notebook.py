"""Rules that read a source notebook and run nothing: ids, points, exercises and their checks, code that parses."""

from __future__ import annotations

import ast
import builtins
import copy
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from autograder.exercises import registry
from autograder.exercises.contracts import MARK
from autograder.exercises.parse import IMPORTS, bindings

GRADE_ID = re.compile(r"[a-zA-Z0-9_\-]+")  # what nbgrader takes
SCHEME_POINTS = re.compile(r"(?m)^[-*] (\d+(?:\.\d+)?) points?\b")
CHECKED = re.compile(r"""check\(\s*["']([^"']+)["']\s*\)""")

Problems = Iterator[tuple[str, str]]  # cell id, what is wrong with it


@dataclass(frozen=True)
class Fault:
    """One broken rule: where, and what to do about it."""

    unit: str
    cell: str  # "-" where it is the whole unit
    summary: str

    def __str__(self) -> str:
        return f"{self.unit}, cell {self.cell}: {self.summary}"


def faults(unit: str, notebook: NotebookNode) -> list[Fault]:
    """Every broken rule of one source notebook, in the order of the rules."""
    return [Fault(unit, cell, what) for rule in RULES for cell, what in rule(notebook)]


def invalid(notebook: NotebookNode) -> Problems:
    """Errors that nbformat finds."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nbformat.validate(copy.deepcopy(notebook))  # it gives repeated ids new ones, in place
    except nbformat.ValidationError as error:
        yield "-", f"is not a valid notebook: {str(error).strip().partition(chr(10))[0]}"


def repeated_ids(notebook: NotebookNode) -> Problems:
    """Ids that two cells share, of nbformat's or of nbgrader's, and ids that nbgrader does not take."""
    for name, count in Counter(cell.get("id") for cell in notebook.cells).items():
        if name is not None and count > 1:
            yield name, f"{count} cells have this id: give each its own"
    names = [(cell.get("id", "-"), marks(cell).get("grade_id", "")) for cell in notebook.cells if marks(cell)]
    for name, count in Counter(name for _, name in names).items():
        if count > 1:
            yield name, f"{count} cells have the grade id {name!r}: students' marks would be mixed up"
    for cell, name in names:
        if not GRADE_ID.fullmatch(str(name)):
            yield cell, f"the grade id {name!r} is invalid: use letters, digits, - and _"


def wrong_points(notebook: NotebookNode) -> Problems:
    """Points that are not a number of at least 0, and mark schemes whose points do not add up to the question's."""
    for cell in notebook.cells:
        if not (marks(cell).get("grade") or marks(cell).get("task")):
            continue
        points = marks(cell).get("points")
        if isinstance(points, bool) or not isinstance(points, int | float) or not 0 <= points < math.inf:
            yield _name(cell), f"is graded, but its points are {points!r}: give it a number, 0 or more"
            continue
        parts = [float(part) for part in SCHEME_POINTS.findall(cell.source)] if cell.cell_type == "markdown" else []
        if parts and sum(parts) != points:
            yield _name(cell), f"is worth {points:g} points, but its mark scheme gives {sum(parts):g}"


def lost_exercises(notebook: NotebookNode) -> Problems:
    """Checks of unknown exercises or without an answer cell, and answers without a check."""
    known = {"-".join(exercise.id.split(".")): exercise.id for exercise in registry.exercises()}
    names = {marks(cell)["grade_id"] for cell in notebook.cells if "grade_id" in marks(cell)}
    for cell in notebook.cells:
        kind, _, tail = str(marks(cell).get("grade_id", "")).partition("-")
        match = CHECKED.match(cell.source.strip()) if marks(cell).get("grade") and cell.cell_type == "code" else None
        name = match[1].partition(MARK)[0] if match else ""
        if match and name not in known.values():
            yield _name(cell), f"no installed course has the exercise {match[1]!r}; `autograder list` shows all"
        elif match and _name(cell) != "check-" + name.replace(".", "-"):
            yield _name(cell), f"must have the grade id check-{name.replace('.', '-')}: the exercise is found by it"
        elif match and f"solution-{tail}" not in names:
            yield _name(cell), f"is a check of {match[1]}, but there is no cell solution-{tail} for the answer"
        elif kind == "solution" and tail in known and f"check-{tail}" not in names:
            yield _name(cell), f"the answer to {known[tail]} is worth nothing: there is no cell check-{tail}"


def unparsable(notebook: NotebookNode) -> Problems:
    """Code that is not valid Python, apart from IPython magics."""
    for cell in code(notebook):
        try:
            tree(cell)
        except SyntaxError as error:
            yield cell.get("id", "-"), f"line {error.lineno} does not parse: {error.msg}"


def redefinable_names(notebook: NotebookNode) -> Problems:
    """Names in a test that come from a cell which students can edit, since they could redefine them."""
    from autograder.own_tests.proxies import USUAL_IMPORTS

    cells = [cell for cell in code(notebook) if _parses(cell)]
    safe = set(USUAL_IMPORTS) | set(dir(builtins))
    for cell in cells:
        if marks(cell).get("locked") or marks(cell).get("grade"):
            safe |= _bound(tree(cell))
        elif marks(cell).get("solution"):  # what is imported outside the solution is taken as it was released
            safe |= _bound(_released(cell), imports=True)
    free: dict[str, str] = {}
    for cell in cells:
        if not (marks(cell).get("locked") or marks(cell).get("grade")):
            editable = _bound(tree(cell), imports=bool(marks(cell).get("solution")))
            free |= dict.fromkeys(editable - safe, _name(cell))
    for cell in cells:
        if marks(cell).get("grade") and not marks(cell).get("solution") and not CHECKED.match(cell.source.strip()):
            used = {node.id for part in tree(cell) for node in ast.walk(part) if isinstance(node, ast.Name)}
            for name in sorted(used & free.keys()):
                yield _name(cell), (f"uses {name!r} from cell {free[name]}, which students can edit: "
                                    "lock that cell, or import it in the test")  # fmt: skip


def _parses(cell: NotebookNode) -> bool:
    try:
        tree(cell)
    except SyntaxError:  # `unparsable` says so
        return False
    return True


def _bound(statements: list[ast.stmt], imports: bool = False) -> set[str]:
    """Names that these statements bind, in any branch; `imports`: by imports only."""
    return {name for name, node in bindings(statements) if not imports or isinstance(node, IMPORTS)}


def _released(cell: NotebookNode) -> list[ast.stmt]:
    """The imports of an answer that students get, which stand outside the solution."""
    ranges, start = [], 0
    for number, line in enumerate(cell.source.splitlines(), 1):
        if "BEGIN SOLUTION" in line:
            start = number
        elif "END SOLUTION" in line:
            ranges.append(range(start, number + 1))
    return [node for node in tree(cell) if not any(node.lineno in hidden for hidden in ranges)]


RULES: tuple[Callable[[NotebookNode], Problems], ...] = (
    invalid,
    repeated_ids,
    wrong_points,
    lost_exercises,
    unparsable,
    redefinable_names,
)


def points(notebook: NotebookNode) -> float:
    """All points of the notebook, including manually graded ones."""
    return math.fsum(marks(cell).get("points") or 0 for cell in notebook.cells)


def marks(cell: NotebookNode) -> dict:
    """nbgrader's metadata of the cell."""
    return cell.metadata.get("nbgrader") or {}


def code(notebook: NotebookNode) -> list[NotebookNode]:
    """The notebook's code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tree(cell: NotebookNode) -> list[ast.stmt]:
    """The cell's statements, IPython's own syntax translated. Raises SyntaxError if the code does not parse."""
    return _parsed(cell.source).body


@lru_cache(maxsize=512)  # one rule after the other reads the cells of a notebook
def _parsed(source: str) -> ast.Module:
    return ast.parse(TransformerManager().transform_cell(source))


def _name(cell: NotebookNode) -> str:
    return str(marks(cell).get("grade_id") or cell.get("id", "-"))
