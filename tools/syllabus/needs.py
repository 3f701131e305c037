"""What each unit builds on: the functions that it imports from earlier units, and the ideas that course.toml names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from course import all_exercises, units
from course.notebook import source_notebook
from course.settings import Unit

Needs = dict[str, dict[str, tuple[str, ...]]]  # unit -> earlier unit -> the functions imported; none: its ideas


def imported_names(source: str) -> Iterable[str]:
    """The names that a cell imports from tfkit."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tfkit":
            yield from (one.name for one in node.names)


def needs(course: Sequence[Unit]) -> Needs:
    """What each unit of the course takes from each earlier one."""
    built_in = {symbol: exercise.unit for exercise in all_exercises() for symbol in exercise.symbols}
    folders, order = {folder.name: folder for folder in units()}, [unit.name for unit in course]
    found: Needs = {}
    for unit in course:
        code = [cell.source for cell in source_notebook(folders[unit.name]).cells if cell.cell_type == "code"]
        taken: dict[str, set[str]] = {name: set() for name in unit.needs}
        for name in {name for source in code for name in imported_names(source)} & built_in.keys():
            if built_in[name] in order[: order.index(unit.name)]:
                taken.setdefault(built_in[name], set()).add(name)
        found[unit.name] = {name: tuple(sorted(taken[name])) for name in order if name in taken}
    return found


def direct(found: Mapping[str, Mapping[str, object]]) -> dict[str, list[str]]:
    """The needs without those that another one implies, for a drawing."""
    return {unit: [one for one in own if not _follows(one, own, found)] for unit, own in found.items()}


def _follows(one: str, own: Iterable[str], found: Mapping[str, Mapping[str, object]]) -> bool:
    return any(one in _all(other, found) for other in own if other != one)


def _all(unit: str, found: Mapping[str, Mapping[str, object]]) -> set[str]:
    return {name for one in found[unit] for name in {one, *_all(one, found)}}


def from_the_library(track: Sequence[str], found: Needs) -> dict[str, dict[str, tuple[str, ...]]]:
    """What the units of a track import from units that the track leaves out: left-out unit -> unit -> functions."""
    missing: dict[str, dict[str, tuple[str, ...]]] = {}
    for unit in track:
        for other, functions in found[unit].items():
            if other not in track and functions:
                missing.setdefault(other, {})[unit] = functions
    return missing
