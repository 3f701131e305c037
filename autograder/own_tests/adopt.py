"""Turns an ordinary notebook into an assignment, and reports gaps in its tests: `autograder adopt hw1.ipynb my-course`.

A code cell with `### BEGIN SOLUTION` … `### END SOLUTION` in it is a solution; a code cell below with an `assert` is a
test, worth one point unless a line such as `# points: 3` says otherwise. Students get everything else unchanged.

The tests are run on the solution with one mutation at a time (autograder.checks.operators). Mutants that the tests
kill are stored as wrong answers: the lines that each changes, with the test cells that failed. Survivors are listed, so
that the instructor can add a test. All of this is the instructor's own code and runs in this process; students' answers
are graded in a box.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from autograder.checks.mutation import GradientCut, MutantTimeout, deadline
from autograder.checks.operators import Mutant, mutants
from autograder.exercises import injected_modules
from autograder.exercises.edits import difference, entry
from autograder.exercises.parse import without_magics
from autograder.feedback.text import count_text
from autograder.own_tests import mutants as stored_mutants

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
POINTS = re.compile(r"(?mi)^\s*#\s*points:\s*(\d+(?:\.\d+)?)\s*$")
ASSERT = re.compile(r"(?m)^\s*assert\b")
CORPUS = "corpus"


class AdoptionError(ValueError):
    """The notebook cannot become an assignment; the message says which cell, and what to do."""


@dataclass
class Report:
    """The outcome of the mutants: killed by which test cells, stopped by an error, or survived."""

    solutions: int = 0
    tests: int = 0
    killed: list[tuple[Mutant, list[str], str]] = field(default_factory=list)  # and the cell that it mutates
    bases: dict[str, str] = field(default_factory=dict)  # the solution cells by name, formatted like the mutants
    cells: list[dict[str, str]] = field(default_factory=list)  # all but the tests: a source, or a solution's name
    raised: int = 0
    survived: list[Mutant] = field(default_factory=list)

    def lines(self, name: str) -> Iterator[str]:
        """The report as lines to print."""
        counted = len(self.killed) + len(self.survived)
        share = f" ({100 * len(self.killed) / counted:.0f}%)" if counted else ""
        yield (
            f"{name}: {count_text(self.solutions, 'solution')}, {count_text(self.tests, 'test cell')}; of "
            f"{count_text(counted, 'mutant')} the tests catch {len(self.killed)}{share}; {self.raised} more stop with "
            "an error by themselves"
        )
        if self.survived:
            one = len(self.survived) == 1
            yield f"your tests miss {'this mutant' if one else f'these {len(self.survived)} mutants'}:"
            yield from (f"  {mutant.name}" for mutant in self.survived)
            yield "for each that would be a mistake, add an assert that fails with it, and run this again"


def adopt(file: Path, course: Path) -> tuple[Path, Report]:
    """Write the source notebook and the corpus of its mutants below `course` -> the notebook, the report.

    Raises AdoptionError, before anything is written, if the file is not a notebook, has no solution or no test, or if
    its own solution fails its own tests.
    """
    name = file.stem
    if not re.fullmatch(r"[a-zA-Z0-9_\-]+", name):
        raise AdoptionError(f"{file.name}: an assignment's name is made of letters, digits, - and _: rename the file")
    nb = add_marks(_read(file))
    report = run_mutants(nb)
    source = course / "source" / name / f"{name}.ipynb"
    source.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nb, source)
    _write_corpus(course / CORPUS / name, report)
    return source, report


def _read(file: Path) -> NotebookNode:
    try:
        return nbformat.read(file, as_version=4)
    except OSError as error:
        raise AdoptionError(f"{file} cannot be read: {error.strerror}") from None
    except Exception as error:  # nbformat and json raise many kinds
        raise AdoptionError(f"{file} is not a notebook: {str(error).partition(chr(10))[0][:80]}") from None


def add_marks(nb: NotebookNode) -> NotebookNode:
    """Add nbgrader's metadata to the cells with solutions and tests; existing metadata is kept."""
    counts = {"solution": 0, "tests": 0}
    for cell in (cell for cell in nb.cells if cell.cell_type == "code"):
        cell.outputs, cell.execution_count = [], None
        has_marks = BEGIN in cell.source
        if has_marks != (END in cell.source):
            raise AdoptionError(f"the cell {_first(cell)!r} has only one of {BEGIN} and {END}: write both")
        kind = "solution" if has_marks else "tests" if counts["solution"] and ASSERT.search(cell.source) else None
        if kind is None:
            continue
        counts[kind] += 1
        if "nbgrader" not in cell.metadata:
            cell.metadata["nbgrader"] = _marks(f"{kind}-{counts[kind]}", cell.source, kind)
    if not counts["solution"]:
        raise AdoptionError(f"no cell has a solution: put it between the lines {BEGIN} and {END}")
    if not counts["tests"]:
        raise AdoptionError("no cell below a solution has an assert: write what must hold, as `assert f(2) == 4`")
    return nb


def _marks(grade_id: str, source: str, kind: str) -> dict[str, Any]:
    marks: dict[str, Any] = {"grade_id": grade_id, "schema_version": 3, "solution": kind == "solution", "task": False}
    if kind == "solution":
        return marks | {"grade": False, "locked": False}
    points = POINTS.search(source)
    return marks | {"grade": True, "locked": True, "points": float(points[1]) if points else 1.0}


def run_mutants(nb: NotebookNode) -> Report:
    """Run a notebook's tests on every mutant of its solutions. Raises AdoptionError if its own solutions fail them."""
    cells = [cell for cell in nb.cells if cell.cell_type == "code"]
    sources = [_plain(cell) for cell in cells]
    solutions = [index for index, cell in enumerate(cells) if BEGIN in cell.source]
    tests = {i: cell.metadata.nbgrader["grade_id"] for i, cell in enumerate(cells)
             if cell.metadata.get("nbgrader", {}).get("grade")}  # fmt: skip
    failed, error = _run(sources, tests, GradientCut())
    if error or failed:
        what = error or f"fails its own test {failed[0]}"
        raise AdoptionError(f"the notebook, run from the top, {what}: correct it first")
    report, named = Report(len(solutions), len(tests)), dict[int, str]()
    for index in solutions:
        name = cells[index].metadata.nbgrader["grade_id"]
        report.bases[name] = ast.unparse(ast.parse(sources[index])) + "\n"
        named[index] = name
        for mutant in mutants(sources[index], injected_modules.definitions(sources[index])):
            changed = [*sources[:index], mutant.source, *sources[index + 1 :]]
            _judge(report, mutant, changed, tests, name)
    whole = [{"solution": named[i]} if i in named else {"source": s} for i, s in enumerate(sources) if i not in tests]
    return replace(report, cells=whole)


def _judge(report: Report, mutant: Mutant, sources: list[str], tests: dict[int, str], cell: str) -> None:
    cut = GradientCut()
    failed, error = _run(sources, tests, cut)
    if error:
        report.raised += 1
    elif failed:
        report.killed.append((mutant, failed, cell))
    elif mutant.operator != "cut_gradient" or cut.flowed:
        report.survived.append(mutant)


def _run(sources: list[str], tests: dict[int, str], cut: GradientCut) -> tuple[list[str], str]:
    """Run the cells from the top -> (names of the tests whose assertion failed, any other error that stopped the
    notebook)."""
    namespace: dict[str, Any] = {"__name__": "__main__", "cut": cut}
    failed = []
    try:
        with deadline(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            for index, source in enumerate(sources):
                try:
                    exec(compile(source, f"cell {index + 1}", "exec"), namespace)
                except AssertionError:
                    if index not in tests:
                        raise
                    failed.append(tests[index])
    except (MutantTimeout, Exception, SystemExit) as error:
        return failed, "" if failed else f"stops with {type(error).__name__}: {str(error)[:80]}"
    return failed, ""


def _plain(cell: NotebookNode) -> str:
    """The cell as Python: IPython's magics are left out, since a test of the solution does not need them."""
    return TransformerManager().transform_cell(without_magics(cell.source))


def _first(cell: NotebookNode) -> str:
    return cell.source.strip().partition("\n")[0][:60]


def _write_corpus(folder: Path, report: Report) -> None:
    """Write the solutions, the lines that each killed mutant replaces there, and the tests that kill it.

    The files of an earlier run are replaced.
    """
    (folder / "right").mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("mutant-*.py"), *folder.glob("right/*.py")]:
        old.unlink()
    for name, text in report.bases.items():
        (folder / "right" / f"{name}.py").write_text(text, encoding="utf-8")
    listed, entries = [], []
    for number, (mutant, tests, base) in enumerate(report.killed, 1):
        name = f"mutant-{number:03}"
        entries.append(entry(name, base, mutant.name, difference(report.bases[base], mutant.source)))
        listed.append({"name": name, "mutant": mutant.name, "words": stored_mutants.words(*mutant.key),
                       "kind": mutant.operator, "caught by": tests})  # fmt: skip
    (folder / "wrong.toml").write_text("\n".join(entries), encoding="utf-8")
    missed = [{"mutant": mutant.name, "kind": mutant.operator} for mutant in report.survived]
    whole = {"caught": listed, "missed": missed, "stopped by an error": report.raised, "cells": report.cells}
    (folder / "mutants.json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
