"""An nbgrader plugin that grades student code against a reference; the two never run in the same process."""

import importlib
from typing import Any

from autograder.exercises.variants import variant
from tfkit_course import refuse_strangers

__all__ = ["ask", "check", "hunt", "order", "variant"]

refuse_strangers()

# what `nbgrader_config.py` of courses that exist imports from here, and where it is now
CONFIGURATION = {
    "misconceptions": "autograder.diagnosis.misconceptions",
    "points": "autograder.settings.points",
    "stored_mutants": "autograder.own_tests.mutants",
}


def __getattr__(name: str) -> Any:
    """A module by the name that the configuration of an existing course uses. Raises AttributeError for others."""
    if name in CONFIGURATION:
        return importlib.import_module(CONFIGURATION[name])
    raise AttributeError(f"module 'autograder' has no attribute {name!r}")


def check(exercise: str):
    """Check the answer that this notebook defines for `exercise`; see `autograder.checking.notebook.check`."""
    from .checking.notebook import check as run

    return run(exercise)


def hunt(exercise: str, seed: int = 0, student: str | None = None, faults: int = 1):
    """Draw a bug hunt; see `autograder.hunts.notebook.hunt`."""
    from .hunts.notebook import hunt as draw

    return draw(exercise, seed, student, faults)


def order(exercise: str, seed: int = 0, student: str | None = None):
    """Show the lines of an answer, to be put in order; see `autograder.ordering.notebook.order`."""
    from .ordering.notebook import order as draw

    return draw(exercise, seed, student)


def ask(exercise: str, *answers: Any, seed: int = 0):
    """Questions about your own answer, or what becomes of your answers; see `autograder.questions.notebook.ask`."""
    from .questions.notebook import ask as show

    return show(exercise, *answers, seed=seed)
