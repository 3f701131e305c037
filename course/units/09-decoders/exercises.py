"""What a decoder sees: what came before, the segment before that, distances, and an order of its own."""

from course import exercise

EXERCISES = [
    exercise(
        "objectives.causal_lm",
        "Causal language-model loss",
        "tfkit.objectives.causal_lm:causal_lm_loss",
        checks="causal_lm",
    ),
    exercise(
        "xl.memory_attention",
        "Attention with a memory (Transformer-XL)",
        "tfkit.nn.memory:memory_attention",
        checks="memory_attention",
        points=3,
    ),
    exercise(
        "xl.relative_scores",
        "Scores by content and by distance (Transformer-XL)",
        "tfkit.nn.relative_attention:relative_scores",
        checks="relative_scores",
        points=3,
    ),
    exercise(
        "xl.segment",
        "Segment attention and the next memory (Transformer-XL)",
        "tfkit.nn.memory:segment_attention",
        checks="segment",
        points=3,
    ),
    exercise(
        "xlnet.permutation_masks",
        "Permutation masks (XLNet)",
        "tfkit.objectives.permutation_lm:permutation_masks",
        checks="permutation_masks",
        points=2,
    ),
    exercise(
        "xlnet.two_streams",
        "Two-stream attention (XLNet)",
        "tfkit.nn.relative_attention:two_stream_attention",
        checks="two_streams",
        points=2,
    ),
]
