"""From logits to text: greedy and beam search, sampling, top-k and top-p, and what makes it fast."""

from autograder.api import Contract, FormChange
from autograder.exercises.contracts import SWAPPED
from course import exercise

EXERCISES = [
    exercise(
        "decoding.greedy",
        "Greedy search",
        "tfkit.decode.greedy:greedy_decode",
        checks="greedy",
        points=2,
    ),
    exercise(
        "decoding.beam",
        "Beam search",
        "tfkit.decode.beam:beam_search",
        checks="beam",
        points=3,
        contracts=[
            Contract(
                "score_first",
                "Each hypothesis is a pair `(score, ids)`: the score comes first.",
                result=FormChange("[(ids, score) for score, ids in {x}]", "[(score, ids) for ids, score in {x}]"),
            )
        ],
    ),
    exercise("decoding.sample", "Sampling with a temperature", "tfkit.decode.drawing:sample_token", checks="sample"),
    exercise("decoding.top_k", "Top-k filter", "tfkit.decode.filters:top_k_filter", checks="top_k"),
    exercise("decoding.top_p", "Top-p filter (nucleus)", "tfkit.decode.filters:top_p_filter", checks="top_p"),
    exercise(
        "decoding.kv_cache",
        "Self-attention with a key-value cache",
        "tfkit.nn.cached_attention:CachedSelfAttention",
        checks="kv_cache",
        points=2,
        contracts=[Contract("cache_first", "`forward` returns the cache first, the output second.", result=SWAPPED)],
    ),
    exercise(
        "decoding.speculative",
        "Speculative decoding: accept or reject draft tokens",
        "tfkit.decode.drawing:accept_draft",
        checks="speculative",
        points=2,
    ),
]
