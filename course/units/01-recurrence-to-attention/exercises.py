"""One recurrent step, the encoder it makes, and the attention that frees it from its bottleneck."""

from course import exercise

EXERCISES = [
    exercise("rnn.cell", "One recurrent step", "tfkit.nn.recurrent:rnn_cell", checks="cell"),
    exercise("rnn.encode", "Read a whole sentence", "tfkit.nn.recurrent:rnn_encode", checks="encode"),
    exercise("attention.attend", "Look back at every state", "tfkit.nn.recurrent:attend", checks="attend", points=2),
    exercise(
        "attention.scaled_dot_product",
        "Scaled dot-product attention",
        "tfkit.nn.attention:scaled_dot_product_attention",
        checks="scaled_dot_product",
        points=3,
    ),
]
