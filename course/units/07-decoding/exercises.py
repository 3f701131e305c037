"""From logits to text: greedy and beam search, truncated sampling, and a cache that makes it fast."""

from autograder.api import Exercise

EXERCISES = [
    Exercise(
        id="decoding.greedy",
        unit="07-decoding",
        title="Take the best word each time",
        symbols=("greedy_decode",),
        references=("tfkit.decode.greedy:greedy_decode",),
        checks="greedy",
        points=2,
    ),
    Exercise(
        id="decoding.beam",
        unit="07-decoding",
        title="Keep several hypotheses",
        symbols=("beam_search",),
        references=("tfkit.decode.beam:beam_search",),
        checks="beam",
        points=3,
    ),
    Exercise(
        id="decoding.top_k",
        unit="07-decoding",
        title="Only the k likeliest",
        symbols=("top_k_filter",),
        references=("tfkit.decode.filters:top_k_filter",),
        checks="top_k",
        points=1,
    ),
    Exercise(
        id="decoding.top_p",
        unit="07-decoding",
        title="Only the nucleus",
        symbols=("top_p_filter",),
        references=("tfkit.decode.filters:top_p_filter",),
        checks="top_p",
        points=1,
    ),
    Exercise(
        id="decoding.kv_cache",
        unit="07-decoding",
        title="Do not compute the past twice",
        symbols=("CachedSelfAttention",),
        references=("tfkit.nn.cache:CachedSelfAttention",),
        checks="kv_cache",
        points=2,
    ),
]
