"""The course: a folder of `units/` holds a lesson, its exercises, their checks, and right and wrong answers."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

from autograder.api import Exercise

ROOT = Path(__file__).parent


def units() -> list[Path]:
    """The unit folders, in the order of the course."""
    return sorted(path.parent for path in (ROOT / "units").glob("*/exercises.py"))


def exercise(name: str, title: str, *references: str, checks: str, points: float = 1) -> Exercise:
    """One entry of a unit's exercises.py. references: dotted `module:symbol`, of what students build under that name.

    checks: the function in the unit's checks.py. The unit and its folder are filled in by `exercises`.
    """
    symbols = tuple(reference.partition(":")[2] for reference in references)
    return Exercise(id=name, unit="", title=title, symbols=symbols, references=references, checks=checks, points=points)


def exercises() -> list[Exercise]:
    """Every exercise of the course, in order; each knows the folder it came from."""
    return [replace(exercise, unit=unit.name, folder=unit) for unit in units() for exercise in _read(unit)]


def _read(unit: Path) -> list[Exercise]:
    spec = importlib.util.spec_from_file_location(
        f"course_{unit.name.replace('-', '_')}_exercises", unit / "exercises.py"
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{unit / 'exercises.py'} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.EXERCISES
