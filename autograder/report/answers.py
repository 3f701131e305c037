"""The code that students wrote, from their graded notebooks, and the stubs that were released."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.api import Exercise
from autograder.cluster.course import BadCourse, released_in, settings_of, students_in
from autograder.exercises import injected_modules, registry
from autograder.exercises.answers import answers
from autograder.nbgrader.rebuild import UNGRADED_ROLES
from tfkit_course.small_file import read_notebook_cells

OWN_CELLS = "cells of their own"


def read(root: Path, assignment: str) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Student → cell → source, and cell → stub. Raises BadCourse if nothing is graded or a notebook is damaged."""
    course = settings_of(root.resolve()).coursedir
    folders = students_in(course, course.autograded_directory, assignment)
    if not folders:
        raise BadCourse(f"no graded notebook of {assignment!r} is in {root}: run `autograder grade COURSE_DIR "
                        f"{assignment}` first")  # fmt: skip
    with Gradebook(course.db_url, course.course_id) as gradebook:
        known = released_in(gradebook, assignment)
    stubs = {cell.name: cell.source for one in known.values() for cell in one.cells if cell.solution}
    return {student: dict(_answers(folder)) for student, folder in folders.items()}, stubs


def known_answers(cells: Iterable[str]) -> dict[str, dict[str, str]]:
    """Cell → name → source of the known answers: the library's own, and the collected right ones."""
    found = {}
    for exercise in registry.exercises():
        cell = f"solution-{exercise.id.replace('.', '-')}"
        if cell in cells:
            collected = {
                f"a collected answer, {path.stem}": path.read_text(encoding="utf-8")
                for path in answers(exercise, "right")
            }
            found[cell] = {"the library's own code": reference_source(exercise)} | collected
    return found


def reference_source(exercise: Exercise) -> str:
    """The source of the exercise's references in the library, without the functions that they call."""
    text, _ = injected_modules.source([exercise])
    names = {reference.partition(":")[2] for reference in exercise.references}
    kept = [node for node in ast.parse(text).body if getattr(node, "name", "") in names or _is_import(node)]
    return ast.unparse(ast.Module(kept, []))


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _answers(folder: Path) -> Iterator[tuple[str, str]]:
    own = []
    for path in sorted(folder.glob("*.ipynb")):
        try:
            cells = read_notebook_cells(path)
        except (OSError, ValueError) as error:
            raise BadCourse(f"{path} cannot be read ({error}): delete it and grade again") from error
        for cell in (one for one in cells if one["cell_type"] == "code"):
            marks, source = cell["metadata"].get("nbgrader"), "".join(cell["source"])
            role = (cell["metadata"].get("tfkit") or {}).get("role")
            if marks and marks["solution"]:
                yield marks["grade_id"], source
            elif not marks and role not in UNGRADED_ROLES:
                own.append(source)
    yield OWN_CELLS, "\n\n".join(own)
