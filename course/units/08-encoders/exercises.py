"""What encoders are trained to do: masked words, sentence pairs, replaced tokens, distillation, translation pairs."""

from autograder.api import Contract
from autograder.exercises.contracts import INVERTED, SWAPPED
from course import exercise

EXERCISES = [
    exercise(
        "objectives.mlm",
        "Masked language modelling",
        "tfkit.objectives.masked_lm:mask_tokens",
        checks="mlm",
        points=2,
        contracts=[
            Contract(
                "maskable",
                "`special` is turned round: True marks the tokens that may be chosen. The labels are returned "
                "first, the inputs second.",
                result=SWAPPED,
                arguments=(("special", INVERTED),),
            )
        ],
    ),
    exercise(
        "objectives.sentence_pairs",
        "Pairs for next sentence prediction",
        "tfkit.objectives.sentence_pairs:next_sentence_pairs",
        checks="sentence_pairs",
    ),
    exercise(
        "objectives.sentence_order",
        "Pairs for sentence order prediction",
        "tfkit.objectives.sentence_pairs:sentence_order_pairs",
        checks="sentence_order",
    ),
    exercise(
        "objectives.replaced_tokens",
        "Replaced token detection",
        "tfkit.objectives.replaced_tokens:replaced_token_detection_loss",
        checks="replaced_tokens",
        points=2,
        contracts=[
            Contract(
                "hidden", "In `mask`, True marks the positions that do not count.", arguments=(("mask", INVERTED),)
            )
        ],
    ),
    exercise(
        "objectives.distillation",
        "Knowledge distillation",
        "tfkit.objectives.distillation:distillation_loss",
        checks="distillation",
        points=3,
    ),
    exercise(
        "objectives.translation_lm",
        "Translation language modelling",
        "tfkit.objectives.translation_lm:translation_lm_inputs",
        checks="translation_lm",
    ),
]
