"""One recurrent step, the encoder it makes, and the attention that frees it from its bottleneck."""

from autograder.api import Exercise

EXERCISES = [
    Exercise(
        id="rnn.cell",
        unit="01-recurrence-to-attention",
        title="One recurrent step",
        symbols=("rnn_cell",),
        references=("tfkit.nn.recurrent:rnn_cell",),
        checks="cell",
        points=1,
    ),
    Exercise(
        id="rnn.encode",
        unit="01-recurrence-to-attention",
        title="Read a whole sentence",
        symbols=("rnn_encode",),
        references=("tfkit.nn.recurrent:rnn_encode",),
        checks="encode",
        points=1,
    ),
    Exercise(
        id="attention.attend",
        unit="01-recurrence-to-attention",
        title="Look back at every state",
        symbols=("attend",),
        references=("tfkit.nn.recurrent:attend",),
        checks="attend",
        points=2,
    ),
    Exercise(
        id="attention.scaled_dot_product",
        unit="01-recurrence-to-attention",
        title="Scaled dot-product attention",
        symbols=("scaled_dot_product_attention",),
        references=("tfkit.nn.attention:scaled_dot_product_attention",),
        checks="scaled_dot_product",
        points=3,
    ),
]
