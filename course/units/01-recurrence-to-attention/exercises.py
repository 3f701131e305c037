"""One recurrent step, the encoder built from it, and the attention that removes its bottleneck."""

from course import exercise

EXERCISES = [
    exercise("rnn.cell", "One recurrent step", "tfkit.nn.recurrent:rnn_cell", checks="cell"),
    exercise("rnn.encode", "A recurrent encoder", "tfkit.nn.recurrent:rnn_encode", checks="encode"),
    exercise(
        "attention.attend", "Attention over the encoder states", "tfkit.nn.recurrent:attend", checks="attend", points=2
    ),
    exercise(
        "attention.scaled_dot_product",
        "Scaled dot-product attention",
        "tfkit.nn.attention:scaled_dot_product_attention",
        checks="scaled_dot_product",
        points=3,
    ),
]
