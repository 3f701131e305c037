"""What encoders are trained to do: blanks, sentence pairs, replaced words, a teacher's doubts, translations."""

from course import exercise

EXERCISES = [
    exercise("objectives.mlm", "Blanks to fill in", "tfkit.objectives.masked_lm:mask_tokens", checks="mlm", points=2),
    exercise(
        "objectives.sentence_pairs",
        "Does it follow?",
        "tfkit.objectives.sentence_pairs:next_sentence_pairs",
        checks="sentence_pairs",
    ),
    exercise(
        "objectives.sentence_order",
        "Which came first?",
        "tfkit.objectives.sentence_pairs:sentence_order_pairs",
        checks="sentence_order",
    ),
    exercise(
        "objectives.replaced_tokens",
        "Which word is not the author's?",
        "tfkit.objectives.replaced_tokens:replaced_token_detection_loss",
        checks="replaced_tokens",
        points=2,
    ),
    exercise(
        "objectives.distillation",
        "Learn a teacher's doubts",
        "tfkit.objectives.distillation:distillation_loss",
        checks="distillation",
        points=3,
    ),
    exercise(
        "objectives.translation_lm",
        "A blank beside its translation",
        "tfkit.objectives.translation_lm:translation_lm_inputs",
        checks="translation_lm",
    ),
]
