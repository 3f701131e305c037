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

Title and minutes of a unit are those of the course unless given. docs/settings.md has every key and its default.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder import points as worth
from autograder.api import Exercise
from course import all_exercises, units

FILE = "course.toml"


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
    predictions: float = 0

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
    try:
        worth.read(path)
    except worth.BadWeights as error:
        raise LessonError(str(error)) from None
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
    found = _table(path).get("language")
    if found is not None and not (isinstance(found, str) and found):
        raise LessonError(f'{path}: language = {found!r} must be a gettext language code, such as "fr"')
    return found


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LessonError(f"{path} is not TOML: {str(error).splitlines()[0]}") from None


def _entries(path: Path) -> list[dict[str, Any]]:
    found = _table(path).get("unit")
    if not isinstance(found, list) or not found or not all(isinstance(entry, dict) for entry in found):
        raise LessonError(f'{path} names no unit: write [[unit]] and name = "02-masks" below it')
    return found


def _unit(path: Path, known: dict[str, dict], entry: dict[str, Any]) -> Unit:
    name = entry.get("name")
    if not isinstance(name, str) or name not in known:
        raise LessonError(f"{path}: no unit is called {name!r}; available: {', '.join(known)}")
    where, keys = f"{path}: unit {name}", [f.name for f in fields(Unit)]
    if unknown := sorted(entry.keys() - set(keys)):
        raise LessonError(f"{where} has {unknown[0]!r}, which is not one of {', '.join(keys)}")
    unit = Unit(**{**known[name], **entry})
    due, points, chosen = unit.due, unit.points, unit.exercises
    if due is not None and (not isinstance(due, datetime) or due.tzinfo is None):
        raise LessonError(f"{where}: due = {due} needs date, time and offset, as 2026-10-12T18:00:00+02:00")
    if not isinstance(points, dict) or not all(type(p) in (int, float) and p >= 0 for p in points.values()):
        raise LessonError(f'{where}: points must be numbers by exercise, as {{"masks.softmax" = 4}}')
    if type(unit.predictions) not in (int, float) or unit.predictions < 0:
        raise LessonError(f"{where}: predictions = {unit.predictions!r} must be a number of points, 0 for none")
    if chosen is not None and not (isinstance(chosen, list) and chosen):
        raise LessonError(f"{where}: exercises must be a list of ids; leave it out for all, or leave out the unit")
    _all_known(where, name, [*(chosen or ()), *points])
    if chosen is not None and (given := [one for one in points if one not in chosen]):
        raise LessonError(f"{where}: {given[0]} has points, but is not among its exercises")
    return Unit(**{**vars(unit), "exercises": None if chosen is None else tuple(chosen)})


def _all_known(where: str, name: str, ids: Iterable[Any]) -> None:
    own = [exercise.id for exercise in all_exercises() if exercise.unit == name]
    for one in ids:
        if one not in own:
            raise LessonError(f"{where} has no exercise {one!r}; available: {', '.join(own)}")
