"""Where is a word? Waves that are added, rotations, distances in buckets, a shift, and a table in two factors."""

from autograder.api import Exercise

EXERCISES = [
    Exercise(
        id="positions.sinusoidal",
        unit="04-positions",
        title="A clock with many hands",
        symbols=("sinusoidal_positions",),
        references=("tfkit.nn.positions:sinusoidal_positions",),
        checks="sinusoidal",
        points=2,
    ),
    Exercise(
        id="positions.rotary",
        unit="04-positions",
        title="Turning instead of adding",
        symbols=("apply_rotary",),
        references=("tfkit.nn.positions:apply_rotary",),
        checks="rotary",
        points=3,
    ),
    Exercise(
        id="positions.t5_buckets",
        unit="04-positions",
        title="Distances in buckets",
        symbols=("relative_bucket",),
        references=("tfkit.nn.positions:relative_bucket",),
        checks="t5_buckets",
        points=3,
    ),
    Exercise(
        id="positions.relative_shift",
        unit="04-positions",
        title="From distances to places",
        symbols=("relative_shift",),
        references=("tfkit.nn.positions:relative_shift",),
        checks="relative_shift",
        points=2,
    ),
    Exercise(
        id="positions.axial",
        unit="04-positions",
        title="A table in two factors",
        symbols=("axial_positions",),
        references=("tfkit.nn.positions:axial_positions",),
        checks="axial",
        points=1,
    ),
]
