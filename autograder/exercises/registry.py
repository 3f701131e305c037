"""Finds exercises by entry point, and the checks that belong to each, without knowing any course by name."""

from __future__ import annotations

import difflib
import importlib.util
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

from autograder.api import Exercise
from autograder.exercises import contracts
from tfkit_course import install

GROUP = "autograder.exercises"


class UnknownExercise(LookupError):
    """No installed course has an exercise of that name."""


class TwoExercises(ValueError):
    """Two installed courses have exercises with the same name."""


@lru_cache(maxsize=1)
def exercises() -> tuple[Exercise, ...]:
    """Every exercise that an installed course offers, in the course's order; raises TwoExercises."""
    found: dict[str, Exercise] = {}
    offered: dict[str, str] = {}
    # by name and value: an environment may contain the metadata of one package twice, from before and after a renaming
    for name, value in sorted({(point.name, point.value) for point in entry_points(group=GROUP)}):
        for exercise in EntryPoint(name, value, GROUP).load()():
            if exercise.id in found:
                raise TwoExercises(
                    f"two exercises are called {exercise.id}: in unit {found[exercise.id].unit} of "
                    f"{offered[exercise.id]} and in unit {exercise.unit} of {value}; uninstall one of the packages"
                )
            found[exercise.id], offered[exercise.id] = exercise, value
    return tuple(found.values())


def find(exercise_id: str) -> Exercise:
    """The exercise of that id, such as `masks.causal`, or `masks.causal@hidden` under its contract of that name; raises
    UnknownExercise, which names the nearest."""
    exercise_id, _, contract = exercise_id.partition(contracts.MARK)
    try:
        return contracts.with_contract(_find(exercise_id), contract)
    except contracts.UnknownContract as error:
        raise UnknownExercise(str(error)) from None


def _find(exercise_id: str) -> Exercise:
    by_id = {exercise.id: exercise for exercise in exercises()}
    if exercise_id in by_id:
        return by_id[exercise_id]
    if not by_id:
        raise UnknownExercise(f"no course is installed: {install()} installs one; then try `autograder list`")
    near = difflib.get_close_matches(exercise_id, by_id, n=1, cutoff=0.5)
    near += [name for name in by_id if exercise_id in name.split(".")]  # `dpo`: all of a part of the name
    suggestion = f" (did you mean {near[0]}?)" if near else ""
    raise UnknownExercise(f"no exercise is called {exercise_id!r}{suggestion}; `autograder list` shows all")


def earlier_exercises(exercise: Exercise) -> list[Exercise]:
    """The exercises of all units before this one's."""
    return [other for other in exercises() if other.unit < exercise.unit]


def earlier_in_unit(exercise: Exercise) -> list[Exercise]:
    """The exercises of its unit that come before this one; empty if it is not installed."""
    unit = [other for other in exercises() if other.unit == exercise.unit]
    places = [n for n, other in enumerate(unit) if other.id == exercise.id]
    return unit[: places[0]] if places else []


@lru_cache(maxsize=64)
def adapters(unit: str) -> frozenset[str]:
    """The cells, without line breaks around them, by which a unit's notebook turns answers into the course's form."""
    asked = [contracts.with_contract(other, one.name) for other in exercises() if other.unit == unit
             for one in other.contracts]  # fmt: skip
    return frozenset(contracts.adapter(one).strip() for one in asked)


def injected_references(exercise: Exercise) -> list[str]:
    """The references that the box of this exercise may import: those of earlier units."""
    return list(dict.fromkeys(reference for other in earlier_exercises(exercise) for reference in other.references))


def check_function(exercise: Exercise) -> Callable:
    """The function in the unit's checks.py that lists this exercise's checks. Imports torch."""
    return getattr(_checks_module(exercise), exercise.checks)


def _checks_module(exercise: Exercise) -> ModuleType:
    if exercise.folder is None:
        raise ValueError(f"exercise {exercise.id} has no folder, so its checks.py cannot be found")
    name = f"autograder_unit_{exercise.unit.replace('-', '_')}_checks"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, exercise.folder / "checks.py")
        if spec is None or spec.loader is None:
            raise ImportError(f"{exercise.folder / 'checks.py'} cannot be loaded as Python")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]
