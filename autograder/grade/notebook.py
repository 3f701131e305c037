"""The verdicts on all exercises of a notebook, and where in its file each of them points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.api import Exercise, Verdict
from autograder.console.base import BadInput
from autograder.exercises import contracts, registry
from autograder.exercises.notebook_lines import cell_lines
from autograder.grade.file import read_notebook


@dataclass(frozen=True)
class LocatedVerdict:
    """A verdict and the cell that it is about: its number (1-based), and the lines of the file in which it stands."""

    verdict: Verdict
    cell: int | None = None
    lines: tuple[int, ...] = ()

    def line_in_file(self, line: int | None) -> int:
        """The line of the file in which a line of the cell stands (1-based); the cell's first if `line` is None."""
        return ((self.lines[(line or 1) - 1 :] or self.lines) + (1,))[0]


@dataclass(frozen=True)
class NotebookResult:
    """What was found in a notebook: verdicts in its order, or the problem because of which nothing was graded."""

    file: Path
    verdicts: tuple[LocatedVerdict, ...] = ()
    problem: str = ""


def grade_file(file: Path, backend: Any, **how: Any) -> NotebookResult:
    """The verdicts on every exercise of the notebook; keywords: device, seed and known.

    A file that is no notebook, or has no exercise, is a result with its problem: it costs no other file its verdicts.
    """
    from autograder.grade import run

    if file.suffix != ".ipynb":
        return NotebookResult(file, problem=f"{file} is not a notebook: name its exercise, `autograder check ID FILE`")
    try:
        notebook, text = read_notebook(file)
    except BadInput as error:
        return NotebookResult(file, problem=str(error))
    exercises = exercises_of(notebook)
    if not exercises:
        return NotebookResult(file, problem=f"{file} has no exercise of an installed course; `autograder list` "
                              "shows them")  # fmt: skip
    verdicts = run.grade_notebook(notebook, exercises, student=file.name, backend=backend, **how)
    lines = cell_lines(text)  # of the text that was graded: the code may have changed the file
    return NotebookResult(
        file, tuple(_located(replace(verdict, file=str(file)), notebook, lines) for verdict in verdicts)
    )


def exercises_of(notebook: Mapping[str, Any]) -> list[Exercise]:
    """The notebook's exercises, with the points that its check cells give, in the order of the course.

    They are those that its metadata lists, whose cells may be lost, and those of its check cells.
    """
    points, sources = dict(_checks(notebook)), dict(_check_sources(notebook))
    listed = _mapping(_mapping(notebook.get("metadata")).get("tfkit")).get("exercises")
    names = {str(name) for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    known = [one for one in registry.exercises() if one.id in names | points.keys()]
    asked = [contracts.as_checked(one, sources.get(one.id, "")) for one in known]
    return [replace(one, points=points.get(one.id) or one.points) for one in asked]


def _check_sources(notebook: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for cell in notebook["cells"]:
        tfkit = _mapping(_mapping(cell.get("metadata")).get("tfkit"))
        if tfkit.get("role") == "check" and isinstance(tfkit.get("exercise"), str):
            source = cell.get("source", "")
            yield tfkit["exercise"], "".join(source) if isinstance(source, list) else str(source)


def _checks(notebook: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    for cell in notebook["cells"]:
        metadata = _mapping(cell.get("metadata"))
        tfkit = _mapping(metadata.get("tfkit"))
        if tfkit.get("role") == "check" and isinstance(tfkit.get("exercise"), str):
            yield tfkit["exercise"], _points(_mapping(metadata.get("nbgrader")).get("points"))


def _points(value: Any) -> float | None:
    """The points that a cell gives, if they are some."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        return float(value) if is_number and 0 < value < math.inf else None
    except OverflowError:  # a whole number with hundreds of digits
        return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _located(verdict: Verdict, notebook: Mapping[str, Any], lines: list[list[int]]) -> LocatedVerdict:
    """The verdict with its cell: that of the line that departs, or else the answer's."""
    named = verdict.departure["cell"] if verdict.departure and verdict.line else None
    places = [
        index
        for index, cell in enumerate(notebook["cells"])
        if (str(cell.get("id", f"cell-{index}")) == named if named else _answers(cell, verdict.exercise))
    ]
    if not places:
        return LocatedVerdict(verdict)
    return LocatedVerdict(verdict, places[-1] + 1, tuple(lines[places[-1]]))


def _answers(cell: Mapping[str, Any], exercise: str) -> bool:
    tfkit = _mapping(_mapping(cell.get("metadata")).get("tfkit"))
    return tfkit.get("role") == "exercise" and tfkit.get("exercise") == exercise
