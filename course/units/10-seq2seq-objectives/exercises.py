"""What is taken away from a text and what must be written: T5, BART, Pegasus and ProphetNet."""

from course import exercise

EXERCISES = [
    exercise(
        "objectives.span_corruption",
        "Span corruption",
        "tfkit.objectives.span_corruption:span_corruption",
        checks="span_corruption",
        points=2,
    ),
    exercise(
        "objectives.denoise",
        "Four kinds of noise for denoising",
        "tfkit.objectives.denoising:delete_tokens",
        "tfkit.objectives.denoising:infill",
        "tfkit.objectives.denoising:permute_sentences",
        "tfkit.objectives.denoising:rotate",
        checks="denoise",
        points=2,
    ),
    exercise(
        "objectives.gap_sentences",
        "Gap-sentence generation",
        "tfkit.objectives.gap_sentences:gap_sentences",
        checks="gap_sentences",
    ),
    exercise(
        "objectives.future_ngram",
        "The future n-gram loss",
        "tfkit.objectives.future_ngram:future_ngram_loss",
        checks="future_ngram",
        points=2,
    ),
    exercise(
        "objectives.prefix_lm",
        "The mask of a prefix language model",
        "tfkit.nn.masks:prefix_lm_mask",
        checks="prefix_lm",
    ),
]
