"""`autograder lint`: one assignment after the other, the cheap rules first."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.api import Limits
from autograder.cluster.course import BadCourse, boxed_settings, settings_of
from autograder.feedback.text import count_text
from autograder.lint import graded, notebook, release
from autograder.lint.notebook import Fault


def assignments(root: Path) -> list[str]:
    """All assignments that have a source folder in the course. Raises BadCourse if there are none."""
    course = settings_of(root.resolve()).coursedir
    folders = Path(course.format_path(course.source_directory, ".", ".")).glob("*/*.ipynb")
    if names := sorted({path.parent.name for path in folders}):
        return names
    raise BadCourse(f"{root} has no source notebooks: run `python -m course.build {root}`")


def lint(root: Path, assignment: str) -> Iterator[Fault | str]:
    """Each fault as it is found, and finally a line on what was checked.

    Raises BadCourse or SandboxError if the course cannot be read or no box can be started.
    """
    found = [one for name, nb in release.source_notebooks(root, assignment).items()
             for one in notebook.faults(_place(assignment, name), nb)]  # fmt: skip
    yield from found
    with tempfile.TemporaryDirectory(prefix="lint") as folder:
        try:
            made = release.make(root, assignment, Path(folder).resolve())
        except release.ReleaseError as error:
            yield Fault(assignment, "-", f"nbgrader cannot release it: {error}")
            return
        for cell, what in release.leaks(made):
            yield Fault(assignment, cell, what)
        yield from _run(root, assignment, made)


def _run(root: Path, assignment: str, made: release.Release) -> Iterator[Fault | str]:
    settings, exercises, seconds = boxed_settings(settings_of(root.resolve())), [], 0.0
    for name, known in made.known.items():
        unit, nb = _place(assignment, name), made.sources[name]
        stub = graded.GradedNotebook(made.released[name], known, settings, assignment)  # first: it warms the box
        solution = graded.GradedNotebook(nb, known, settings, assignment)
        again = graded.GradedNotebook(graded.paste_cells(nb), known, settings, assignment)
        limits = Limits(**settings["BoxedExecute"].get("limits", {}))
        for faults in (graded.stub_faults(stub), graded.solution_faults(solution, limits),
                       graded.pasted_faults(again, solution)):  # fmt: skip
            yield from (Fault(unit, cell, what) for cell, what in faults)
        tests = graded.own_tests_of(solution.nb)
        for value, hostile in graded.hostile_notebooks(nb) if tests else ():
            wrong = graded.GradedNotebook(hostile, known, settings, assignment)
            yield from (Fault(unit, cell, what) for cell, what in graded.hostile_faults(wrong, value, tests))
        exercises += list(graded.exercises_of(solution.nb))
        seconds += sum(solution.seconds.values())
    for exercise in exercises:
        yield from (Fault(assignment, cell, what) for cell, what in graded.corpus_faults(exercise))
    yield from _sum(assignment, made, seconds)


def _sum(assignment: str, made: release.Release, seconds: float) -> Iterator[Fault | str]:
    points = sum(notebook.points(nb) for nb in made.sources.values())
    if points != made.points:
        yield Fault(assignment, "-", f"its cells have {points:g} points, nbgrader's gradebook {made.points:g}")
    if not made.points:
        yield Fault(assignment, "-", "none of its cells is worth points")
    checks = sum(cell.grade for one in made.known.values() for cell in one.cells)
    count = count_text(checks, "check")
    yield f"{assignment}: {count}, {made.points:g} points; the solution takes {seconds:.1f} s of the processor"


def _place(assignment: str, name: str) -> str:
    return assignment if name == assignment else f"{assignment}/{name}"
