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
    questions = 1                                    # points for answers about one's own code; none by default

    sure = true                                      # predictions also ask how sure one is
    recall = false                                   # units do not open with questions on earlier ones
    variants = "2026, group B"                       # at the top: draws other contracts of the exercises
    variants_for = "student"                         # at the top: each student has contracts of their own
    track = "core"                                   # at the top: the units of a track, and [[unit]] only changes them

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
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.api import Exercise
from autograder.exercises.contracts import draw_contract, group_of, with_contract
from autograder.settings import course_file
from autograder.settings.course_file import GRADING, TOP, TRACKS, UNIT
from autograder.settings.points import BadContracts, read_contracts
from course import all_exercises, units

FILE = course_file.FILE


class LessonError(ValueError):
    """A lesson or a course.toml that cannot be built; the message says which one, what is wrong and what to do."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One unit with the settings of this course.

    `exercises`: what students build, or None for all of them. `predictions`: points for making the unit's predictions,
    right or wrong. `questions`: points for right answers about their own code. `needs`: earlier units whose ideas it
    takes up. `tracks`: the tracks that it is in, by their names, of those that this course has whole. `earlier`: the
    units before it, on which it opens with questions; none if course.toml switches those off. `sure`: whether its
    predictions also ask how sure one is. `variants`: the group for which other contracts of the exercises are drawn; ""
    for the course's own. `own_variants`: the text by which each student's are drawn; "" where all have the same.
    `ordered`: the share of an exercise's points that an order of its lines earns in the place of code; 0 for none.
    """

    name: str
    title: str = ""
    minutes: float | None = None
    due: datetime | None = None
    exercises: tuple[str, ...] | None = None
    points: dict[str, float] = field(default_factory=dict)
    predictions: float = UNIT.defaults["predictions"]
    questions: float = UNIT.defaults["questions"]
    needs: tuple[str, ...] = ()
    tracks: dict[str, Track] = field(default_factory=dict)
    earlier: tuple[str, ...] = ()
    sure: bool = TOP.defaults["sure"]
    variants: str = ""
    own_variants: str = ""
    ordered: float = 0.0

    def requires(self, exercise: Exercise) -> bool:
        """Whether students build the exercise, rather than get its solution."""
        return self.exercises is None or exercise.id in self.exercises

    def asks_for(self, exercise: Exercise) -> Exercise:
        """The exercise under the contract that is drawn for the group, if there is one."""
        return with_contract(exercise, draw_contract(exercise, self.variants)) if self.variants else exercise

    def points_of(self, exercise: Exercise) -> float:
        """The exercise's points in this course."""
        return self.points.get(exercise.id, exercise.points)

    def of_student(self, student: str) -> Unit:
        """The unit with the contracts that are drawn for this student."""
        return replace(self, variants=group_of(self.own_variants, student), own_variants="")


@dataclass(frozen=True, kw_only=True)
class Track:
    """A path through the course: its units, in the course's order."""

    name: str
    units: tuple[str, ...]
    title: str
    about: str = ""


def read(course_dir: str | Path | None = None, track: str | None = None) -> list[Unit]:
    """The units of the course in `course_dir`, in its order; all units if it has no course.toml.

    track: only the units of this one, instead of course.toml's own; tables of other units are left out. Raises
    LessonError with one line that names the file, the entry and what to do.
    """
    default, path = Path(__file__).parent / FILE, _path(course_dir)
    known = {entry["name"]: entry for entry in _entries(default)}
    known |= {folder.name: _of_another_package(folder) for folder in units() if folder.name not in known}
    chosen = _chosen(course_dir, path, track)
    entries = list(known.values()) if path == default else _entries(path, chosen)
    for entry in entries:
        _check_unit(path, known, entry["name"])
    if chosen:
        entries = _of_track(path, chosen, entries, strict=track is None and path != default)
    found = [_unit(path, known, entry) for entry in entries]
    if twice := {unit.name for unit in found if [u.name for u in found].count(unit.name) > 1}:
        raise LessonError(f"{path}: {min(twice)} is used twice")
    here = {unit.name for unit in found}
    whole = [chosen] if chosen else [one for one in tracks(course_dir).values() if here.issuperset(one.units)]
    top = _contents(path)
    asks, sure = (top.get(key, TOP.defaults[key]) for key in ("recall", "sure"))
    each = _text_for_each(path)
    return [
        replace(unit, tracks={one.name: one for one in whole if unit.name in one.units},
                earlier=tuple(one.name for one in found[:place]) if asks else (), sure=sure,
                variants="" if each else top.get("variants", ""), own_variants=each,
                ordered=top.get(GRADING.name, {}).get("ordered", 0.0))
        for place, unit in enumerate(found)
    ]  # fmt: skip


def _text_for_each(path: Path) -> str:
    """The text by which contracts are drawn for each student; "" if they are not."""
    try:
        return read_contracts(path)
    except BadContracts as error:
        raise LessonError(str(error)) from None


def _path(course_dir: str | Path | None) -> Path:
    """The file that counts: the course's own if there is one."""
    own = None if course_dir is None else Path(course_dir) / FILE
    return own if own and own.exists() else Path(__file__).parent / FILE


def tracks(course_dir: str | Path | None = None) -> dict[str, Track]:
    """Name -> track: those of this package, and those of the course's own file, which replace namesakes.

    Raises LessonError for one with a unit that does not exist.
    """
    default, path = Path(__file__).parent / FILE, _path(course_dir)
    found: dict[str, Track] = {}
    for file in dict.fromkeys((default, path)):
        for entry in _contents(file).get(TRACKS.name, []):
            found[entry["name"]] = _track(file, entry)
    return found


def _track(file: Path, entry: dict[str, Any]) -> Track:
    names, chosen = [folder.name for folder in units()], entry.get("units", [])
    if not chosen:
        raise LessonError(
            f"{file}: track {entry['name']} has no units: write units = ['02-masks'], for instance, below it"
        )
    if unknown := [name for name in chosen if name not in names]:
        raise LessonError(f"{file}: track {entry['name']} has {unknown[0]!r}, which is no unit; available: "
                          f"{', '.join(names)}")  # fmt: skip
    return Track(**{"title": entry["name"], **entry, "units": tuple(chosen)})


def _chosen(course_dir: str | Path | None, path: Path, track: str | None) -> Track | None:
    name = track or _contents(path).get("track")
    known = tracks(course_dir) if name else {}
    if name and name not in known:
        raise LessonError(f"no track is called {name!r}; available: {', '.join(known)}")
    return known[name] if name else None


def _of_track(path: Path, track: Track, entries: list[dict[str, Any]], strict: bool) -> list[dict[str, Any]]:
    """An entry for each unit of the track, with what the file says of it; strict: it may say nothing of others."""
    given: dict[str, dict[str, Any]] = {}
    for entry in entries:
        if entry["name"] in given:
            raise LessonError(f"{path}: {entry['name']} is used twice")
        given[entry["name"]] = entry
    others = given.keys() - set(track.units)
    if strict and others:
        raise LessonError(f"{path}: unit {min(others)} is not in the track {track.name}: leave its table out")
    return [given.get(name, {"name": name}) for name in track.units]


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


def _entries(path: Path, track: Track | None = None) -> list[dict[str, Any]]:
    """The file's tables of units; there must be one, unless a track names the units."""
    found: list[dict[str, Any]] = _contents(path).get(UNIT.name, [])
    if not found and track is None:
        raise LessonError(f"{path} names no unit: write {UNIT.label} and {UNIT.example} below it")
    return found


def _check_unit(path: Path, known: dict[str, dict], name: str) -> None:
    if name not in known:
        raise LessonError(f"{path}: no unit is called {name!r}; available: {', '.join(known)}")


def _unit(path: Path, known: dict[str, dict], entry: dict[str, Any]) -> Unit:
    name = entry["name"]
    unit = Unit(**{**known[name], **entry})
    where, points, chosen = f"{path}: unit {name}", unit.points, unit.exercises
    _all_known(where, name, [*(chosen or ()), *points])
    if chosen is not None and (given := [one for one in points if one not in chosen]):
        raise LessonError(f"{where}: {given[0]} has points, but is not among its exercises")
    if later := [one for one in unit.needs if one not in known]:
        raise LessonError(f"{where}: needs has {later[0]!r}, which is no unit; available: {', '.join(known)}")
    return replace(unit, exercises=None if chosen is None else tuple(chosen), needs=tuple(unit.needs))


def _all_known(where: str, name: str, ids: Iterable[str]) -> None:
    own = [exercise.id for exercise in all_exercises() if exercise.unit == name]
    for one in ids:
        if one not in own:
            raise LessonError(f"{where} has no exercise {one!r}; available: {', '.join(own)}")


def unit_names(course_dir: str | Path | None = None) -> list[str]:
    """The units in the order of course.toml."""
    return [unit.name for unit in read(course_dir)]
