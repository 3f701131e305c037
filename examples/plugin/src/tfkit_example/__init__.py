"""A plugin for tfkit: `bag_of_words` (an architecture) and `smoothing.moving_average` (an exercise)."""

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
