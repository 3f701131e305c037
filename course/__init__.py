"""The course: a folder of `units/` holds a lesson, its exercises, their checks, and right and wrong answers.

Units of other packages belong to it, too, if an entry point of the group `autograder.exercises` names their exercises
and their folder has a lesson. `python -m course.new` writes such a package.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autograder.api import Contract, Exercise
from autograder.exercises import registry

UNITS = Path(__file__).parent / "units"


def units() -> list[Path]:
    """The unit folders of this repository and of installed packages, in the order of their names.

    Raises ValueError if two units have one name.
    """
    found = {folder.name: folder for folder in _folders(UNITS)}
    for exercise in all_exercises():
        if exercise.folder is None or not (exercise.folder / "lesson.py").exists():
            continue
        if found.setdefault(exercise.unit, exercise.folder) != exercise.folder:
            raise ValueError(f"two units are called {exercise.unit}: {found[exercise.unit]} and {exercise.folder}")
    return [found[name] for name in sorted(found)]


def all_exercises() -> tuple[Exercise, ...]:
    """The exercises of every installed course."""
    return registry.exercises()


def exercise(name: str, title: str, *references: str, checks: str, points: float = 1,
             contracts: Sequence[Contract] = ()) -> Exercise:  # fmt: skip
    """One entry of a unit's exercises.py. references: dotted `module:symbol` of the definitions that students write
    under that name.

    checks: the function in the unit's checks.py. contracts: other contracts of the same idea, of which course.toml may
    draw one (autograder.exercises.contracts). The unit and its folder are filled in by `exercises`.
    """
    symbols = tuple(reference.partition(":")[2] for reference in references)
    return Exercise(id=name, unit="", title=title, symbols=symbols, references=references, checks=checks, points=points,
                    contracts=tuple(contracts))  # fmt: skip


def exercises() -> list[Exercise]:
    """Every exercise of our own units, in order, each with its folder."""
    return exercises_in(UNITS)


def exercises_in(folder: Path) -> list[Exercise]:
    """The exercises of the units below `folder`, from each unit's exercises.py: for a package's entry point."""
    return [replace(exercise, unit=unit.name, folder=unit) for unit in _folders(folder) for exercise in _read(unit)]


def _folders(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("*/exercises.py"))


def _read(unit: Path) -> list[Exercise]:
    spec = importlib.util.spec_from_file_location(
        f"course_{unit.name.replace('-', '_')}_exercises", unit / "exercises.py"
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{unit / 'exercises.py'} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.EXERCISES
