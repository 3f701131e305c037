"""One recurrent step, the encoder built from it, and the attention that removes its bottleneck."""

from autograder.api import Contract
from autograder.exercises.contracts import INVERTED, LENGTH_FIRST, SWAPPED
from course import exercise

EXERCISES = [
    exercise("rnn.cell", "One recurrent step", "tfkit.nn.recurrent:rnn_cell", checks="cell"),
    exercise(
        "rnn.encode",
        "A recurrent encoder",
        "tfkit.nn.recurrent:rnn_encode",
        checks="encode",
        contracts=[
            Contract(
                "length_first",
                "`x` is `[S,B,E]` and the states that you return are `[S,B,H]`: the length comes first, the "
                "batch second.",
                result=LENGTH_FIRST,
                arguments=(("x", LENGTH_FIRST),),
            )
        ],
    ),
    exercise(
        "attention.attend",
        "Attention over the encoder states",
        "tfkit.nn.recurrent:attend",
        checks="attend",
        points=2,
        contracts=[
            Contract(
                "hidden",
                "In `mask`, True hides a position: it gets no weight. The weights are returned first, the "
                "context second.",
                result=SWAPPED,
                arguments=(("mask", INVERTED),),
            )
        ],
    ),
    exercise(
        "attention.scaled_dot_product",
        "Scaled dot-product attention",
        "tfkit.nn.attention:scaled_dot_product_attention",
        checks="scaled_dot_product",
        points=3,
        contracts=[
            Contract(
                "hidden",
                "In `mask`, True hides a key. The weights are returned first, the output second.",
                result=SWAPPED,
                arguments=(("mask", INVERTED),),
            )
        ],
    ),
]
