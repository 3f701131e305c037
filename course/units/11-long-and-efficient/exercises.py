"""How a transformer reads long texts: who need not look at whom, and what need not be remembered."""

from autograder.api import Contract
from autograder.exercises.contracts import INVERTED, LENGTH_FIRST
from course import exercise

EXERCISES = [
    exercise(
        "sparse.local_global",
        "Mask of a window and global positions (Longformer)",
        "tfkit.nn.sliding_window:local_global_mask",
        checks="local_global",
        contracts=[
            Contract(
                "hidden",
                "In the mask that you return, True hides a key, and False shows it.",
                result=INVERTED,
                results_of=(("zeros_and_minus_infinity", "{x}"),),
            )
        ],
    ),
    exercise(
        "sparse.sliding_window",
        "Sliding-window attention in linear memory",
        "tfkit.nn.sliding_window:sliding_window_attention",
        checks="sliding_window",
        points=2,
    ),
    exercise(
        "sparse.bigbird",
        "Block mask (BigBird)",
        "tfkit.nn.block_sparse:bigbird_mask",
        checks="bigbird",
        points=2,
        contracts=[
            Contract("hidden", "In the mask that you return, True hides a key, and False shows it.", result=INVERTED)
        ],
    ),
    exercise(
        "sparse.lsh_buckets", "Locality-sensitive hashing (Reformer)", "tfkit.nn.lsh:lsh_buckets", checks="lsh_buckets"
    ),
    exercise(
        "sparse.lsh_attention",
        "Attention within a hash bucket (Reformer)",
        "tfkit.nn.lsh:lsh_attention",
        checks="lsh_attention",
        points=3,
    ),
    exercise(
        "reformer.reversible",
        "Reversible block (Reformer)",
        "tfkit.nn.reversible:ReversibleBlock",
        checks="reversible",
        points=2,
    ),
    exercise(
        "reformer.chunked",
        "Feed-forward network in chunks (Reformer)",
        "tfkit.nn.feed_forward:chunked_feed_forward",
        checks="chunked",
    ),
    exercise(
        "funnel.pool", "Pooling to half the length (Funnel)", "tfkit.nn.pooling:pool_sequence", checks="pool", points=2
    ),
    exercise(
        "deberta.scores",
        "Disentangled attention scores (DeBERTa)",
        "tfkit.nn.disentangled_attention:disentangled_scores",
        checks="disentangled",
        points=3,
    ),
    exercise(
        "convbert.dynamic_conv",
        "Dynamic convolution (ConvBERT)",
        "tfkit.nn.dynamic_conv:span_dynamic_conv",
        checks="dynamic_conv",
        points=2,
        contracts=[
            Contract(
                "length_first",
                "`value`, `kernel_logits` and the result have the length first, the batch second: `[L,B,D]` and "
                "`[L,B,W]`.",
                result=LENGTH_FIRST,
                arguments=(("value", LENGTH_FIRST), ("kernel_logits", LENGTH_FIRST)),
            )
        ],
    ),
]
