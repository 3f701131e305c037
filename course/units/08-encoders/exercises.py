"""What encoders are trained to do: masked words, sentence pairs, replaced tokens, distillation, translation pairs."""

from course import exercise

EXERCISES = [
    exercise(
        "objectives.mlm", "Masked language modelling", "tfkit.objectives.masked_lm:mask_tokens", checks="mlm", points=2
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
