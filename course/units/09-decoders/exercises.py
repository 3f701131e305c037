"""What a decoder sees: what came before, the segment before that, distances, and an order of its own."""

from course import exercise

EXERCISES = [
    exercise(
        "objectives.causal_lm",
        "The causal language-model loss",
        "tfkit.objectives.causal_lm:causal_lm_loss",
        checks="causal_lm",
    ),
    exercise(
        "xl.memory_attention",
        "Attention with a memory",
        "tfkit.nn.memory:memory_attention",
        checks="memory_attention",
        points=3,
    ),
    exercise(
        "xl.relative_scores",
        "Scores by content and by distance",
        "tfkit.nn.relative_attention:relative_scores",
        checks="relative_scores",
        points=3,
    ),
    exercise(
        "xl.segment",
        "The attention of a Transformer-XL layer",
        "tfkit.nn.memory:segment_attention",
        checks="segment",
        points=3,
    ),
    exercise(
        "xlnet.permutation_masks",
        "Masks for any order of prediction",
        "tfkit.objectives.permutation_lm:permutation_masks",
        checks="permutation_masks",
        points=2,
    ),
    exercise(
        "xlnet.two_streams",
        "Attention with two streams",
        "tfkit.nn.relative_attention:two_stream_attention",
        checks="two_streams",
        points=2,
    ),
]
