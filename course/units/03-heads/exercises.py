"""Multi-head attention: several attentions side by side."""

from autograder.api import Contract
from autograder.exercises.contracts import INVERTED, SWAPPED
from course import exercise

EXERCISES = [
    exercise(
        "attention.split_heads",
        "Split into heads, and merge them again",
        "tfkit.nn.attention:split_heads",
        "tfkit.nn.attention:merge_heads",
        checks="split_heads",
    ),
    exercise(
        "attention.multi_head",
        "Multi-head attention",
        "tfkit.nn.attention:MultiHeadAttention",
        checks="multi_head",
        points=3,
        contracts=[
            Contract(
                "hidden",
                "In `mask`, True hides a key. `forward` returns the weights first, the output second.",
                result=SWAPPED,
                arguments=(("mask", INVERTED),),
            )
        ],
    ),
]
