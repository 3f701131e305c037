"""What is taken away from a text and what must be written: T5, BART, Pegasus and ProphetNet."""

from course import exercise

EXERCISES = [
    exercise(
        "objectives.span_corruption",
        "Span corruption (T5)",
        "tfkit.objectives.span_corruption:span_corruption",
        checks="span_corruption",
        points=2,
    ),
    exercise(
        "objectives.denoise",
        "Denoising: four kinds of noise (BART)",
        "tfkit.objectives.denoising:delete_tokens",
        "tfkit.objectives.denoising:infill",
        "tfkit.objectives.denoising:permute_sentences",
        "tfkit.objectives.denoising:rotate",
        checks="denoise",
        points=2,
    ),
    exercise(
        "objectives.gap_sentences",
        "Gap sentences (Pegasus)",
        "tfkit.objectives.gap_sentences:gap_sentences",
        checks="gap_sentences",
    ),
    exercise(
        "objectives.future_ngram",
        "Future n-gram loss (ProphetNet)",
        "tfkit.objectives.future_ngram:future_ngram_loss",
        checks="future_ngram",
        points=2,
    ),
    exercise(
        "objectives.prefix_lm",
        "Prefix language-model mask",
        "tfkit.nn.masks:prefix_lm_mask",
        checks="prefix_lm",
    ),
]
