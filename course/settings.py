"""Reads course.toml: which units a course has, with which exercises, points and due dates.

A course directory's own course.toml is used if there is one, otherwise the one in this folder:

    title = "Transformers in five weeks"
    language = "fr"                                  # as far as catalogues go; `course.build --language` overrides it

    [[unit]]
    name = "02-masks"
    due = 2026-10-12T18:00:00+02:00                  # into nbgrader's gradebook, for late penalties and `collect`
    exercises = ["masks.causal", "masks.softmax"]    # what students build; the others are given, with solutions
    points = {"masks.softmax" = 4}                   # instead of the exercise's own
    predictions = 1                                  # points for making the unit's predictions; none by default

    [weights]                                        # what a property earns, times the exercises' own weights
    gradients = 2                                    # values, shapes, gradients, dtypes, edges, cost, purity
    edges = 0.5                                      # in any case at most a quarter of an exercise

    [assistants]                                     # what `autograder mcp` may tell (autograder.assistants.rules)
    hints = 2                                        # steps of help, at most those of `c.ShowVerdicts.hints`

Title and minutes of a unit are those of the course unless given. autograder.settings.course_file reads the file and
checks names and types; here are the questions that only the course can answer, such as which exercises a unit has.
docs/settings.md has every key and its default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.api import Exercise
from autograder.settings import course_file
from autograder.settings.course_file import UNIT
from course import all_exercises, units

FILE = course_file.FILE


class LessonError(ValueError):
    """A lesson or a course.toml that cannot be built; the message says which one, what is wrong and what to do."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One unit with the settings of this course.

    `exercises`: what students build, or None for all of them. `predictions`: points for making the unit's predictions,
    right or wrong.
    """

    name: str
    title: str = ""
    minutes: float | None = None
    due: datetime | None = None
    exercises: tuple[str, ...] | None = None
    points: dict[str, float] = field(default_factory=dict)
    predictions: float = UNIT.defaults["predictions"]

    def requires(self, exercise: Exercise) -> bool:
        """Whether students build the exercise, rather than get its solution."""
        return self.exercises is None or exercise.id in self.exercises

    def points_of(self, exercise: Exercise) -> float:
        """The exercise's points in this course."""
        return self.points.get(exercise.id, exercise.points)


def read(course_dir: str | Path | None = None) -> list[Unit]:
    """The units of the course in `course_dir`, in its order; all units if it has no course.toml.

    Raises LessonError with one line that names the file, the entry and what to do.
    """
    default = Path(__file__).parent / FILE
    path = default if course_dir is None or not (Path(course_dir) / FILE).exists() else Path(course_dir) / FILE
    known = {entry["name"]: entry for entry in _entries(default)}
    known |= {folder.name: _of_another_package(folder) for folder in units() if folder.name not in known}
    entries = known.values() if path == default else _entries(path)
    found = [_unit(path, known, entry) for entry in entries]
    if twice := {unit.name for unit in found if [u.name for u in found].count(unit.name) > 1}:
        raise LessonError(f"{path}: {min(twice)} is used twice")
    return found


def _of_another_package(folder: Path) -> dict[str, Any]:
    """A unit's entry: its title is its lesson's first heading without the number; only course.toml can give minutes."""
    heading = re.search(r"(?m)^# # (?:\d+ · )?(.+)$", (folder / "lesson.py").read_text(encoding="utf-8"))
    return {"name": folder.name, "title": heading[1] if heading else folder.name}


def language_of(course_dir: str | Path | None = None) -> str | None:
    """The language in the course's own course.toml, or None. Raises LessonError if course.toml is invalid."""
    path = Path(course_dir or "") / FILE
    if course_dir is None or not path.exists():
        return None
    return _contents(path).get("language")


def _contents(path: Path) -> dict[str, Any]:
    try:
        return course_file.read(path)
    except course_file.CourseFileError as error:
        raise LessonError(str(error)) from None


def _entries(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _contents(path).get(UNIT.name, [])
    if not found:
        raise LessonError(f"{path} names no unit: write {UNIT.label} and {UNIT.example} below it")
    return found


def _unit(path: Path, known: dict[str, dict], entry: dict[str, Any]) -> Unit:
    name = entry["name"]
    if name not in known:
        raise LessonError(f"{path}: no unit is called {name!r}; available: {', '.join(known)}")
    unit = Unit(**{**known[name], **entry})
    where, points, chosen = f"{path}: unit {name}", unit.points, unit.exercises
    _all_known(where, name, [*(chosen or ()), *points])
    if chosen is not None and (given := [one for one in points if one not in chosen]):
        raise LessonError(f"{where}: {given[0]} has points, but is not among its exercises")
    return Unit(**{**vars(unit), "exercises": None if chosen is None else tuple(chosen)})


def _all_known(where: str, name: str, ids: Iterable[str]) -> None:
    own = [exercise.id for exercise in all_exercises() if exercise.unit == name]
    for one in ids:
        if one not in own:
            raise LessonError(f"{where} has no exercise {one!r}; available: {', '.join(own)}")


def unit_names(course_dir: str | Path | None = None) -> list[str]:
    """The units in the order of course.toml."""
    return [unit.name for unit in read(course_dir)]
