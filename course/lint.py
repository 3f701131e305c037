"""Checks the rules for lessons: `python -m course.lint [DIR]` builds every unit and names each cell that breaks one.

Checked for each built notebook, without running it and without a network: the rules of `autograder lint` (ids, points,
checks, code that parses); no cell uses a name that is not defined before; none is longer than a screen; no link is
broken; a phrase that points has something to point at (course.pointing); each figure is described in words below it
(`*Figure: …*`), never above, where the words would give away a prediction; each image has alternative text; a
misconception named as `exercise.id/its_name` is in the corpus; the lesson uses the terms that the glossary has for it;
translations are complete and follow the same rules. `make course` runs the cells too, `make course-run` with checks.
"""

from __future__ import annotations

import ast
import builtins
import copy
import re
import symtable
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearMarkScheme, ClearSolutions
from rich.console import Console
from rich.table import Table

from autograder.api import Exercise
from autograder.diagnosis.diagnose import known_answers
from autograder.feedback.text import count_text
from autograder.lint import notebook as reading
from autograder.lint.notebook import Fault, Problems, code, tree
from course import all_exercises, glossary, pointing, translate, units
from course import build as builder
from course.notebook import source_notebook
from course.settings import LessonError, read, unit_names
from tfkit_course import replace_unencodable
from tfkit_course.command_line import make_parser
from tfkit_lab import show

CODE_LINES = 30  # lines of code that a laptop shows; of an exercise, in the student's version
TEXT_LINES, TEXT_WIDTH = 55, 110  # a page of prose, wrapped as JupyterLab wraps it at its usual width
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()]*\))?[^()\s]*)(?:\s+\"[^\"]*\")?\)")
HTML_IMAGE = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
FIGURE_IN_WORDS = re.compile(r"\*Figure(?:, in words)?\s?: \w")
UNDESCRIBED = "draws a figure without a description: add *Figure: …* to the text below it"
NAMED = re.compile(r"`([a-z0-9_]+\.[a-z0-9_.]+)/([a-z0-9_]+)`")


def faults(notebook: NotebookNode) -> list[Fault]:
    """Every broken rule of one built notebook (course.notebook.source_notebook), in the order of the rules."""
    unit = notebook.metadata.tfkit.unit
    return [Fault(unit, cell, what) for rule in RULES for cell, what in rule(notebook)]


def undefined_names(notebook: NotebookNode) -> Problems:
    """Cells that would stop with a NameError: a name is defined in no cell up to them or, if used in a function, in no
    cell."""
    tables = [(cell, symtable.symtable(_text_of(cell), cell.id, "exec")) for cell in code(notebook)]
    known = {*dir(builtins), "__name__", "get_ipython", "display"}
    all_terms = known.union(*(_bound(table) for _, table in tables))
    for cell, table in tables:
        known |= _bound(table)
        missing = {s.get_name() for s in table.get_symbols() if s.is_referenced()} - known
        for inner in _within(table):
            missing |= {s.get_name() for s in inner.get_symbols() if s.is_global() and s.is_referenced()} - all_terms
        yield from (
            (cell.id, f"{name} is defined in no earlier cell: the cell would stop with a NameError")
            for name in sorted(missing)
        )


def _text_of(cell: NotebookNode) -> str:
    return "\n".join(ast.unparse(node) for node in _parsed(cell))


def _bound(table: symtable.SymbolTable) -> set[str]:
    own = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
    return own | {s.get_name() for i in _within(table) for s in i.get_symbols() if s.is_declared_global()}


def _within(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for inner in table.get_children():
        yield inner
        yield from _within(inner)


def over_long(notebook: NotebookNode) -> Problems:
    """Cells that do not fit on a screen; exercises and questions count in the students' version."""
    released, _ = ClearSolutions().preprocess(copy.deepcopy(notebook), {})
    released, _ = ClearMarkScheme().preprocess(released, {})
    for cell in released.cells:
        lines = cell.source.splitlines()
        if cell.cell_type == "code" and len(lines) > CODE_LINES:
            yield cell.id, f"{len(lines)} lines of code; a screen has {CODE_LINES}: divide the cell"
        elif cell.cell_type == "markdown":
            rows = sum(max(1, len(textwrap.wrap(line, TEXT_WIDTH))) for line in lines)
            if rows > TEXT_LINES:
                yield cell.id, f"{rows} rows of text at {TEXT_WIDTH} columns; {TEXT_LINES} are a screen: divide it"


def broken_links(notebook: NotebookNode) -> Problems:
    """Links to headings, units and files that do not exist, and malformed web addresses."""
    anchors = {_anchor(title) for cell in _text(notebook) for title in re.findall(r"(?m)^#+ (.+)$", cell.source)}
    for cell in _text(notebook):
        for _, text, target in LINK.findall(_prose(cell.source)):
            if problem := _link_problem(text, target, anchors):
                yield cell.id, f"[{text[:40]}]({target}) {problem}"


def _link_problem(text: str, target: str, anchors: set[str]) -> str:
    parts = urlsplit(target)
    if parts.scheme in ("http", "https"):
        paper = re.fullmatch(r"arXiv:(\S+)", text)
        if "." not in (parts.hostname or ""):
            return "has no host"
        return "is not the paper that its text names" if paper and not parts.path.endswith(f"/{paper[1]}") else ""
    if parts.scheme:
        return "" if parts.scheme == "mailto" else f"is a {parts.scheme}: link, which students cannot follow"
    if target.startswith(pointing.SCHEME):
        return ""  # has rules of its own
    if not parts.path:
        return "" if unquote(parts.fragment) in anchors else "is not a heading of this notebook"
    there = {f"../{unit.name}/{unit.name}.ipynb" for unit in units()}
    return "" if unquote(parts.path) in there else "is not a file that is released with the notebooks"


def undescribed_figures(notebook: NotebookNode) -> Problems:
    """Images without alternative text; drawing cells with no `*Figure: …*` below them; such words above their figure.

    Above it, the words would give away the prediction.
    """
    undescribed, drawing = "", _drawing_functions(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield from ((cell.id, what) for what in _mute_images(cell.source))
            for _ in FIGURE_IN_WORDS.findall(cell.source):
                if not undescribed:
                    yield (
                        cell.id,
                        "describes a figure that no cell above it draws: move the description below its figure",
                    )
                undescribed = ""
        elif _calls(_statements(cell), drawing):
            if undescribed:
                yield undescribed, UNDESCRIBED
            undescribed = cell.id
    if undescribed:
        yield undescribed, UNDESCRIBED


def _mute_images(source: str) -> Iterator[str]:
    prose = _prose(source)
    for image, text, target in LINK.findall(prose):
        if image and not text.strip():
            yield f"![]({target}) has no alternative text"
    for tag in HTML_IMAGE.findall(prose):
        if not re.search(r"\balt\s*=\s*[\"'][^\"']*\w", tag):
            yield f"{tag[:60]} has no alternative text"


def _drawing_functions(notebook: NotebookNode) -> set[str]:
    """The functions that draw: pyplot's `show`, the stepper, the views, and each function that calls one."""
    drawing = {"plt.show", "Stepper", *(f"show.{view}" for view in show.__all__)}
    defined = [node for cell in code(notebook) for node in _parsed(cell) if isinstance(node, ast.FunctionDef)]
    while more := {node.name for node in defined if node.name not in drawing and _calls(node.body, drawing)}:
        drawing |= more
    return drawing


def _calls(nodes: list[ast.stmt], names: set[str]) -> bool:
    calls = (node for top in nodes for node in ast.walk(top) if isinstance(node, ast.Call))
    return any(ast.unparse(call.func) in names for call in calls)


def unknown_misconceptions(notebook: NotebookNode) -> Problems:
    """Names `exercise.id/misconception` that the collected wrong answers do not have."""
    exercises = {exercise.id: exercise for exercise in all_exercises()}
    families = {name.partition(".")[0] for name in exercises}
    for cell in _text(notebook):
        for exercise, name in NAMED.findall(cell.source):
            known = misconceptions(exercises[exercise]) if exercise in exercises else []
            if exercise.partition(".")[0] in families and name not in known:
                yield cell.id, f"`{exercise}/{name}` is not in the corpus (submissions/{exercise}/wrong.toml)"


def unused_terms(notebook: NotebookNode) -> Problems:
    """Terms of the unit's glossary that its lesson does not use."""
    text = "\n".join(cell.source for cell in _text(notebook) if cell.id != "glossary")
    for term in glossary.terms():
        if term.unit == notebook.metadata.tfkit.unit and not term.is_in(text):
            yield "glossary", f"{term.word!r} is in glossary.toml, but the lesson never uses it"


RULES: tuple[Callable[[NotebookNode], Problems], ...] = (
    *reading.RULES,
    undefined_names,
    over_long,
    broken_links,
    pointing.problems,
    undescribed_figures,
    unknown_misconceptions,
    unused_terms,
)


def misconceptions(exercise: Exercise) -> list[str]:
    """The names of the exercise's collected misconceptions."""
    return [path.stem for path in known_answers(exercise)]


def _text(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def _parsed(cell: NotebookNode) -> list[ast.stmt]:
    """The cell's statements; none if it does not parse, which autograder.lint reports."""
    try:
        return tree(cell)
    except SyntaxError:
        return []


def _statements(cell: NotebookNode) -> list[ast.stmt]:
    """The statements that run with the cell, without the bodies of its functions and classes."""
    return [
        node for node in _parsed(cell) if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]


def _prose(source: str) -> str:
    """Markdown without code and formulas, where brackets have other meanings."""
    return re.sub(r"(?s)```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$", " ", source)


def _anchor(title: str) -> str:
    """The id that JupyterLab gives a heading."""
    return re.sub(r"[`*_]", "", title).strip().replace(" ", "-")


def table(notebooks: list[NotebookNode]) -> Table:
    """Per unit: exercises, questions for a person, points of both, cells, and the minutes that course.toml plans."""
    minutes = {unit.name: unit.minutes for unit in read()}
    rows = [_row(notebook, minutes.get(notebook.metadata.tfkit.unit)) for notebook in notebooks]
    shown = Table(title="The course", title_justify="left", show_footer=True)
    totals = ["all", *(f"{sum(row[column] or 0 for row in rows):g}" for column in range(1, 6))]
    for name, total in zip(("unit", "exercises", "questions", "points", "cells", "minutes"), totals, strict=True):
        shown.add_column(name, total, justify="left" if name == "unit" else "right", no_wrap=True)
    for row in rows:
        shown.add_row(row[0], *("" if value is None else f"{value:g}" for value in row[1:]))
    return shown


def _row(notebook: NotebookNode, minutes: float | None) -> tuple:
    marks = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    roles = [cell.metadata.get("tfkit", {}).get("role") for cell in notebook.cells]
    points = sum(mark.get("points", 0) for mark in marks)
    counts = roles.count("exercise"), roles.count("task"), points, len(notebook.cells)
    return notebook.metadata.tfkit.unit, *counts, minutes


def lint(directory: Path) -> tuple[list[NotebookNode], list[Fault]]:
    """Build all units into `directory`; the notebooks and every fault. LessonError for a unit that cannot be built."""
    names = unit_names()
    unmatched = {folder.name for folder in units()} ^ set(names)
    found = [Fault(name, "-", "is in units/ or in course.toml, but not in both") for name in sorted(unmatched)]
    notebooks = [nbformat.read(one.path, as_version=4) for one in builder.build(directory, names)]
    found += [fault for notebook in notebooks for fault in faults(notebook)]
    return notebooks, found + [fault for folder in units() for fault in translation_faults(folder)]


def translation_faults(folder: Path) -> list[Fault]:
    """Faults of the unit's catalogues, and every broken rule of its translated notebooks."""
    found = []
    for language in sorted(path.stem for path in folder.glob("locale/*.po")):
        name = f"{folder.name} ({language})"
        notebook = translate.in_language(folder, source_notebook(folder), language)
        rules = [rule for rule in RULES if rule is not unused_terms]  # the glossary's words are English
        broken = [fault for rule in rules for fault in rule(notebook)]
        found += [Fault(name, cell, what) for cell, what in [*translate.faults(folder, language), *broken]]
    return found


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 if no rule is broken."""
    replace_unencodable()
    parser = make_parser(
        "course.lint",
        """
        Build every unit and check each cell of its notebook, in every language: links, syntax, width, descriptions of
        figures, terms of the glossary, and translations that are missing or out of date. Nothing is run.
        """,
        exits={0: "no rule is broken", 1: "faults were found and printed, or a lesson cannot be built"},
        examples=("python -m course.lint",),
    )
    parser.add_argument(
        "directory",
        type=Path,
        nargs="?",
        default=Path("build/course"),
        metavar="DIR",
        help="where to build (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    try:
        notebooks, found = lint(options.directory)
    except LessonError as error:
        parser.exit(1, f"course.lint: {error}\n")
    console = Console(highlight=False, soft_wrap=True)
    console.width = max(console.width, 110)  # a pipe counts as 80, which squeezes the table
    console.print(table(notebooks))
    for fault in found:
        console.print(f"✗ {fault}", markup=False)
    console.print(count_text(len(found), "fault") if found else f"no faults; built in {options.directory}")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
