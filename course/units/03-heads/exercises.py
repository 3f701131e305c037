"""Many attentions side by side."""

from autograder.api import Exercise

EXERCISES = [
    Exercise(
        id="attention.split_heads",
        unit="03-heads",
        title="Split into heads and merge again",
        symbols=("split_heads", "merge_heads"),
        references=("tfkit.nn.attention:split_heads", "tfkit.nn.attention:merge_heads"),
        checks="split_heads",
        points=1,
    ),
    Exercise(
        id="attention.multi_head",
        unit="03-heads",
        title="Multi-head attention",
        symbols=("MultiHeadAttention",),
        references=("tfkit.nn.attention:MultiHeadAttention",),
        checks="multi_head",
        points=3,
    ),
]
