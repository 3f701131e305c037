"""An nbgrader plugin that grades student code against a reference; the two never run in the same process."""

from autograder.exercises.variants import variant
from tfkit_course import refuse_strangers

__all__ = ["check", "variant"]

refuse_strangers()


def check(exercise: str):
    """Check the answer that this notebook defines for `exercise`; see `autograder.checking.notebook.check`."""
    from .checking.notebook import check as run

    return run(exercise)
