"""Makes the release with nbgrader's own command in a temporary folder, and looks for leaked solutions in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions

from autograder.cluster.bundle import ReleasedNotebook
from autograder.cluster.course import BadCourse, released_in, settings_of
from autograder.lint.notebook import Problems, marks

RUN = 3  # consecutive lines of a solution elsewhere in the release that count as a leak
SHORT = 40  # characters; shorter text occurs in many places by chance


class ReleaseError(Exception):
    """nbgrader refuses to make the release; the message is its own."""


@dataclass(frozen=True)
class Release:
    """An assignment as it would be released: notebooks by name, what its gradebook knows of them, all its files."""

    sources: dict[str, NotebookNode]
    released: dict[str, NotebookNode]
    known: dict[str, ReleasedNotebook]
    files: list[Path]
    points: float


def source_notebooks(root: Path, assignment: str) -> dict[str, NotebookNode]:
    """The source notebooks of the assignment, by name. Raises BadCourse if there are none or one is damaged."""
    course = settings_of(root.resolve()).coursedir
    folder = Path(course.format_path(course.source_directory, ".", assignment))
    found = {path.stem: path for path in sorted(folder.glob("*.ipynb"))}
    if not found:
        raise BadCourse(f"there is no notebook in {folder}: run `python -m course.build {root}`, or write one")
    try:
        return {name: nbformat.v4.reads(path.read_text(encoding="utf-8")) for name, path in found.items()}  # unrepaired
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadCourse(f"a notebook in {folder} cannot be read: {str(error).partition(chr(10))[0]}") from error


def make(root: Path, assignment: str, folder: Path) -> Release:
    """Generate the assignment's release version in `folder`, with the course's settings.

    Raises BadCourse if the course's configuration cannot be read, and ReleaseError if nbgrader fails.
    """
    sources = source_notebooks(root, assignment)
    course = settings_of(root.resolve()).coursedir
    source = Path(course.format_path(course.source_directory, ".", assignment))
    shutil.copytree(source, folder / source.relative_to(root.resolve()))
    database = f"sqlite:///{folder / 'gradebook.db'}"
    _generate(root, assignment, folder, database)
    files = sorted(path for path in folder.glob(f"{course.release_directory}/**/*") if path.is_file())
    released = {path.stem: nbformat.read(path, as_version=4) for path in files if path.suffix == ".ipynb"}
    with Gradebook(database, course.course_id) as gradebook:
        points = float(gradebook.find_assignment(assignment).max_score)
        return Release(sources, released, released_in(gradebook, assignment), files, points)


def _generate(root: Path, assignment: str, folder: Path, database: str) -> None:
    """The stock command; the gradebook of the course is not touched."""
    here = {"root": folder, "db_url": database}
    call = [sys.executable, "-P", "-m", "nbgrader", "generate_assignment", assignment]
    call += [f"--CourseDirectory.{name}={value}" for name, value in here.items()]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])  # it calls alembic by name
    done = subprocess.run(call, cwd=root, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "ERROR" in line and line.partition("] ")[2].strip()]
        raise ReleaseError((errors[0].partition("] ")[2] if errors else done.stderr.strip())[-300:])


# -- what must not be in it --------------------------------------------------------------------------------------------
def leaks(release: Release) -> Problems:
    """Markers that nbgrader did not remove, hidden text that also occurs elsewhere, and files not for students."""
    hidden = [block for name in release.sources for block in _hidden(release.sources[name], release.released[name])]
    for nb in release.released.values():
        for cell in nb.cells:
            yield from ((cell.id, what) for what in _in_text(_text(cell), hidden))
    for path in release.files:
        if path.suffix in (".key", ".db"):
            yield "-", f"{path.name} would be released: move it out of the assignment's source folder"
        elif path.suffix != ".ipynb":
            text = path.read_bytes().decode("utf-8", "replace")
            yield from (("-", f"{path.name} {what}") for what in _in_text(text, hidden))


@dataclass(frozen=True)
class Block:
    """Consecutive lines in the source of a cell that its release lacks."""

    cell: str
    lines: list[str]


def _hidden(source: NotebookNode, released: NotebookNode) -> Iterator[Block]:
    by_name = {marks(cell).get("grade_id"): cell for cell in released.cells if marks(cell)}
    for cell in source.cells:
        if marks(cell) and (after := by_name.get(marks(cell)["grade_id"])) is not None:
            kept, block = set(_lines(after.source)), []
            for line in [*_lines(cell.source), None]:
                if line is not None and line not in kept:
                    block.append(line)
                elif block:
                    yield Block(marks(cell)["grade_id"], block)
                    block = []


def _lines(text: str) -> list[str]:
    """The lines without indentation, blank lines and comments, so that copies are recognised."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _text(cell: NotebookNode) -> str:
    outputs = "".join(str(output) for output in cell.get("outputs", []))
    return f"{cell.source}\n{outputs}"


def _in_text(text: str, hidden: list[Block]) -> Iterator[str]:
    for mark in _delimiters():
        if mark in text:
            yield f"still has the line {mark!r}: nbgrader clears it in cells that carry its metadata, so mark the cell"
    there = "\n" + "\n".join(_lines(text)) + "\n"
    for block in hidden:
        shown = next((run for run in _runs(block.lines) if f"\n{run}\n" in there), None)
        if shown:
            first = shown.partition("\n")[0][:60]
            yield f"shows hidden lines of {block.cell} ({first!r} …): remove them"


def _runs(lines: list[str]) -> Iterator[str]:
    size = min(RUN, len(lines))
    runs = ("\n".join(lines[at : at + size]) for at in range(len(lines) - size + 1))
    return (run for run in runs if len(run) >= SHORT)


def _delimiters() -> Iterator[str]:
    solutions, tests, scheme = ClearSolutions(), ClearHiddenTests(), ClearMarkScheme()
    yield from (solutions.begin_solution_delimeter, solutions.end_solution_delimeter)
    yield from (tests.begin_test_delimeter, tests.end_test_delimeter)
    yield from (scheme.begin_mark_scheme_delimeter, scheme.end_mark_scheme_delimeter)
