"""Where is a word? Waves that are added, rotations, distances in buckets, a shift, and a table in two factors."""

from course import exercise

EXERCISES = [
    exercise(
        "positions.sinusoidal",
        "A clock with many hands",
        "tfkit.nn.positions:sinusoidal_positions",
        checks="sinusoidal",
        points=2,
    ),
    exercise(
        "positions.rotary", "Turning instead of adding", "tfkit.nn.positions:apply_rotary", checks="rotary", points=3
    ),
    exercise(
        "positions.t5_buckets",
        "Distances in buckets",
        "tfkit.nn.positions:relative_bucket",
        checks="t5_buckets",
        points=3,
    ),
    exercise(
        "positions.relative_shift",
        "From distances to places",
        "tfkit.nn.positions:relative_shift",
        checks="relative_shift",
        points=2,
    ),
    exercise("positions.axial", "A table in two factors", "tfkit.nn.positions:axial_positions", checks="axial"),
]
