"""How a transformer reads long texts: who need not look at whom, and what need not be remembered."""

from course import exercise

EXERCISES = [
    exercise(
        "sparse.local_global",
        "A window, and a few who see all",
        "tfkit.nn.sliding_window:local_global_mask",
        checks="local_global",
    ),
    exercise(
        "sparse.sliding_window",
        "A window without the square",
        "tfkit.nn.sliding_window:sliding_window_attention",
        checks="sliding_window",
        points=2,
    ),
    exercise(
        "sparse.bigbird",
        "Blocks near, first and drawn",
        "tfkit.nn.block_sparse:bigbird_mask",
        checks="bigbird",
        points=2,
    ),
    exercise("sparse.lsh_buckets", "A hash that near vectors share", "tfkit.nn.lsh:lsh_buckets", checks="lsh_buckets"),
    exercise(
        "sparse.lsh_attention",
        "Attention within a bucket",
        "tfkit.nn.lsh:lsh_attention",
        checks="lsh_attention",
        points=3,
    ),
    exercise(
        "reformer.reversible",
        "A layer that runs backwards",
        "tfkit.nn.reversible:ReversibleBlock",
        checks="reversible",
        points=2,
    ),
    exercise(
        "reformer.chunked", "A few positions at a time", "tfkit.nn.feed_forward:chunked_feed_forward", checks="chunked"
    ),
    exercise("funnel.pool", "Half as many positions", "tfkit.nn.pooling:pool_sequence", checks="pool", points=2),
    exercise(
        "deberta.scores",
        "What it says and where it stands",
        "tfkit.nn.disentangled_attention:disentangled_scores",
        checks="disentangled",
        points=3,
    ),
    exercise(
        "convbert.dynamic_conv",
        "A convolution that depends on what it reads",
        "tfkit.nn.dynamic_conv:span_dynamic_conv",
        checks="dynamic_conv",
        points=2,
    ),
]
