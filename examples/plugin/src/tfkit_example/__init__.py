"""A plugin for tfkit: a module for each thing it adds; pyproject.toml names them. Here its exercises are listed."""

from pathlib import Path

from autograder.api import Exercise

UNIT = Path(__file__).parent / "units" / "90-smoothing"


def exercises() -> list[Exercise]:
    """Named by the entry point group `autograder.exercises`."""
    return [
        Exercise(
            id="smoothing.moving_average",
            unit=UNIT.name,
            title="The mean of what has been seen",
            symbols=("moving_average",),
            references=("tfkit_example.smoothing:moving_average",),
            checks="moving_average",
            points=1,
            folder=UNIT,
        )
    ]
