"""From logits to text: greedy and beam search, sampling, its truncation, and what makes it fast."""

from course import exercise

EXERCISES = [
    exercise(
        "decoding.greedy",
        "Take the best word each time",
        "tfkit.decode.greedy:greedy_decode",
        checks="greedy",
        points=2,
    ),
    exercise("decoding.beam", "Keep several hypotheses", "tfkit.decode.beam:beam_search", checks="beam", points=3),
    exercise("decoding.sample", "Draw a word", "tfkit.decode.drawing:sample_token", checks="sample"),
    exercise("decoding.top_k", "Only the k likeliest", "tfkit.decode.filters:top_k_filter", checks="top_k"),
    exercise("decoding.top_p", "Only the nucleus", "tfkit.decode.filters:top_p_filter", checks="top_p"),
    exercise(
        "decoding.kv_cache",
        "Do not compute the past twice",
        "tfkit.nn.cache:CachedSelfAttention",
        checks="kv_cache",
        points=2,
    ),
    exercise(
        "decoding.speculative",
        "Let a small model guess",
        "tfkit.decode.drawing:accept_draft",
        checks="speculative",
        points=2,
    ),
]
