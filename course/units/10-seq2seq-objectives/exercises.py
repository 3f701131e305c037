"""What is taken away from a text and what must be written: T5, BART, Pegasus and ProphetNet."""

from autograder.api import Contract
from autograder.exercises.contracts import INVERTED, SWAPPED, exchange_axes
from course import exercise

EXERCISES = [
    exercise(
        "objectives.span_corruption",
        "Span corruption (T5)",
        "tfkit.objectives.span_corruption:span_corruption",
        checks="span_corruption",
        points=2,
        contracts=[Contract("targets_first", "The targets are returned first, the inputs second.", result=SWAPPED)],
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
        contracts=[Contract("targets_first", "The targets are returned first, the inputs second.", result=SWAPPED)],
    ),
    exercise(
        "objectives.future_ngram",
        "Future n-gram loss (ProphetNet)",
        "tfkit.objectives.future_ngram:future_ngram_loss",
        checks="future_ngram",
        points=2,
        contracts=[
            Contract(
                "batch_first",
                "`logits` are `[B,N,T,V]`: the batch comes first, the streams second.",
                arguments=(("logits", exchange_axes(0, 1)),),
            )
        ],
    ),
    exercise(
        "objectives.prefix_lm",
        "Prefix language-model mask",
        "tfkit.nn.masks:prefix_lm_mask",
        checks="prefix_lm",
        contracts=[
            Contract(
                "hidden",
                "In the mask that you return, True hides a key, and False shows it.",
                result=INVERTED,
                results_of=(("numbers_instead_of_booleans", "1 - {x}"),),
            )
        ],
    ),
]
