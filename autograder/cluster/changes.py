"""What a regrade would change, per student and check, before it is written to the gradebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import nbformat
from rich.markup import escape
from rich.table import Table

from autograder.cluster.course import Course
from autograder.cluster.job import GradingRecord, verdicts_in
from autograder.nbgrader.ledger import Total
from tfkit_course.small_file import read_notebook_cells

TOTAL = "total"
MIN_CHANGE = 1e-9  # points; smaller differences are rounding errors
Verdicts = dict[tuple[str, str], dict[str, Any]]  # (notebook, exercise) → verdict


@dataclass(frozen=True)
class Change:
    """One exercise of one student, or their total, that changes."""

    student: str
    exercise: str
    before: str
    after: str
    checks: tuple[str, ...]  # "scale: passed → failed"; for a total "late penalty: 1 → 2"


def current_verdicts(course: Course, student: str) -> Verdicts:
    """The current verdicts in the student's graded notebooks, whichever command wrote them."""
    folder = course.graded_folder(student)
    found: Verdicts = {}
    for name in course.released:
        if (folder / f"{name}.ipynb").is_file():
            nb = nbformat.from_dict({"cells": read_notebook_cells(folder / f"{name}.ipynb")})
            found |= {(name, verdict["exercise"]): verdict for verdict in verdicts_in(nb)}
    return found


def verdicts_of(record: GradingRecord) -> Verdicts:
    """The verdicts of a record."""
    return {(verdict["notebook"], verdict["exercise"]): verdict for verdict in record.verdicts}


def changes(before: Verdicts, record: GradingRecord) -> list[Change]:
    """Where `record` differs from the current verdicts in score, status, or the outcome of a check."""
    found = []
    for verdict in record.verdicts:
        old = before.get((verdict["notebook"], verdict["exercise"]))
        checks = tuple(_checks(old, verdict)) if old else ()
        if _mark(old) != _mark(verdict) or checks:
            found.append(Change(record.key.student, verdict["exercise"], _mark(old), _mark(verdict), checks))
    return found


def total_changes(totals: Mapping[str, tuple[Total, Total]]) -> list[Change]:
    """Which totals would change, and why; `totals` holds each student's total before and after."""
    found = []
    for student, (before, after) in totals.items():
        if abs(before.points - after.points) > MIN_CHANGE:
            parts = ("marks", before.raw, after.raw), ("late penalty", before.penalty, after.penalty)
            why = tuple(f"{name}: {old:g} → {new:g}" for name, old, new in parts if abs(old - new) > MIN_CHANGE)
            found.append(Change(student, TOTAL, f"{before.points:g}", f"{after.points:g}", why))
    return found


def _mark(verdict: dict[str, Any] | None) -> str:
    if verdict is None:
        return "none"
    return "not graded" if verdict["status"] == "not_graded" else f"{verdict['score']:g}"


def _checks(old: dict[str, Any], new: dict[str, Any]) -> Iterable[str]:
    was, now = ({check["name"]: check["status"] for check in verdict["checks"]} for verdict in (old, new))
    for name in dict.fromkeys([*was, *now]):
        if was.get(name) != now.get(name):
            yield f"{name}: {was.get(name, 'not there')} → {now.get(name, 'not there')}"


def table(found: list[Change]) -> Table:
    """The changes as a table, to be shown before confirmation."""
    shown = Table(title="What would change", title_justify="left")
    for name in ("student", "exercise", "before", "after"):
        shown.add_column(name, no_wrap=True)
    shown.add_column("what", overflow="fold")
    for one in found:
        row = (one.student, one.exercise, one.before, one.after, "\n".join(one.checks))
        shown.add_row(*(escape(text) for text in row))
    return shown
