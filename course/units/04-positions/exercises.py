"""Position embeddings: sinusoids that are added, rotations, buckets of distances, a shift, and an axial table."""

from autograder.api import Contract
from autograder.exercises.contracts import NEGATED, NEIGHBOURS_SWAPPED
from course import exercise

EXERCISES = [
    exercise(
        "positions.sinusoidal",
        "Sinusoidal position embeddings",
        "tfkit.nn.positions:sinusoidal_positions",
        checks="sinusoidal",
        points=2,
        contracts=[
            Contract("cosine_first", "Even columns are cosines, odd columns are sines.", result=NEIGHBOURS_SWAPPED)
        ],
    ),
    exercise(
        "positions.rotary",
        "Rotary position embeddings",
        "tfkit.nn.positions:apply_rotary",
        checks="rotary",
        points=3,
        contracts=[
            Contract(
                "backwards",
                "Each pair is turned the other way: by minus the angle of its position.",
                arguments=(("positions", NEGATED),),
            )
        ],
    ),
    exercise(
        "positions.t5_buckets",
        "Relative positions in buckets (T5)",
        "tfkit.nn.positions:relative_bucket",
        checks="t5_buckets",
        points=3,
        contracts=[
            Contract(
                "query_minus_key",
                "`relative_position` is the position of the query minus that of the key.",
                arguments=(("relative_position", NEGATED),),
            )
        ],
    ),
    exercise(
        "positions.relative_shift",
        "The relative shift (Transformer-XL)",
        "tfkit.nn.positions:relative_shift",
        checks="relative_shift",
        points=2,
    ),
    exercise(
        "positions.axial", "Axial position embeddings (Reformer)", "tfkit.nn.positions:axial_positions", checks="axial"
    ),
]
