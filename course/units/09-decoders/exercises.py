"""What a decoder sees: what came before, the segment before that, distances, and an order of its own."""

from autograder.api import Contract
from autograder.exercises.contracts import INVERTED, LENGTH_FIRST, SWAPPED, exchange_axes
from course import exercise

EXERCISES = [
    exercise(
        "objectives.causal_lm",
        "Causal language-model loss",
        "tfkit.objectives.causal_lm:causal_lm_loss",
        checks="causal_lm",
        contracts=[
            Contract(
                "words_second",
                "`logits` are `[B,V,L]`: the axis of the words is the second one, as in `F.cross_entropy`.",
                arguments=(("logits", exchange_axes(1, 2)),),
            )
        ],
    ),
    exercise(
        "xl.memory_attention",
        "Attention with a memory (Transformer-XL)",
        "tfkit.nn.memory:memory_attention",
        checks="memory_attention",
        points=3,
        contracts=[
            Contract(
                "length_first",
                "`x`, `memory` and the result have the length first, the batch second: `[L,B,E]` and `[M,B,E]`.",
                result=LENGTH_FIRST,
                arguments=(("x", LENGTH_FIRST), ("memory", LENGTH_FIRST)),
            )
        ],
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
        contracts=[
            Contract(
                "query_first",
                "The mask of the query stream is returned first, that of the content stream second.",
                result=SWAPPED,
                results_of=(("one_mask_only", "{x}"),),
            )
        ],
    ),
    exercise(
        "xlnet.two_streams",
        "Two-stream attention (XLNet)",
        "tfkit.nn.relative_attention:two_stream_attention",
        checks="two_streams",
        points=2,
        contracts=[
            Contract(
                "hidden",
                "In both masks, True hides a position, and False shows it.",
                arguments=(("content_mask", INVERTED), ("query_mask", INVERTED)),
            )
        ],
    ),
]
