"""What a decoder sees: what came before, the segment before that, distances, and an order of its own."""

from course import exercise

EXERCISES = [
    exercise(
        "objectives.causal_lm",
        "The text is its own answer",
        "tfkit.objectives.causal_lm:causal_lm_loss",
        checks="causal_lm",
    ),
    exercise(
        "xl.memory_attention",
        "Read on where you stopped",
        "tfkit.nn.memory:memory_attention",
        checks="memory_attention",
        points=3,
    ),
    exercise(
        "xl.relative_scores",
        "Ask for a word, ask for a distance",
        "tfkit.nn.relative_attention:relative_scores",
        checks="relative_scores",
        points=3,
    ),
    exercise(
        "xl.segment",
        "A whole segment",
        "tfkit.nn.memory:segment_attention",
        checks="segment",
        points=3,
    ),
    exercise(
        "xlnet.permutation_masks",
        "Predict in any order",
        "tfkit.objectives.permutation_lm:permutation_masks",
        checks="permutation_masks",
        points=2,
    ),
    exercise(
        "xlnet.two_streams",
        "One stream predicts, one is read",
        "tfkit.nn.relative_attention:two_stream_attention",
        checks="two_streams",
        points=2,
    ),
]
