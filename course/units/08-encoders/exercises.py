"""What encoders are trained to do: blanks, sentence pairs, replaced words, a teacher's doubts, translations."""

from autograder.api import Exercise

EXERCISES = [
    Exercise(
        id="objectives.mlm",
        unit="08-encoders",
        title="Blanks to fill in",
        symbols=("mask_tokens",),
        references=("tfkit.objectives.masked_lm:mask_tokens",),
        checks="mlm",
        points=2,
    ),
    Exercise(
        id="objectives.sentence_pairs",
        unit="08-encoders",
        title="Does it follow?",
        symbols=("next_sentence_pairs",),
        references=("tfkit.objectives.sentence_pairs:next_sentence_pairs",),
        checks="sentence_pairs",
        points=1,
    ),
    Exercise(
        id="objectives.sentence_order",
        unit="08-encoders",
        title="Which came first?",
        symbols=("sentence_order_pairs",),
        references=("tfkit.objectives.sentence_pairs:sentence_order_pairs",),
        checks="sentence_order",
        points=1,
    ),
    Exercise(
        id="objectives.replaced_tokens",
        unit="08-encoders",
        title="Which word is not the author's?",
        symbols=("replaced_token_detection_loss",),
        references=("tfkit.objectives.replaced_tokens:replaced_token_detection_loss",),
        checks="replaced_tokens",
        points=2,
    ),
    Exercise(
        id="objectives.distillation",
        unit="08-encoders",
        title="Learn a teacher's doubts",
        symbols=("distillation_loss",),
        references=("tfkit.objectives.distillation:distillation_loss",),
        checks="distillation",
        points=3,
    ),
    Exercise(
        id="objectives.translation_lm",
        unit="08-encoders",
        title="A blank beside its translation",
        symbols=("translation_lm_inputs",),
        references=("tfkit.objectives.translation_lm:translation_lm_inputs",),
        checks="translation_lm",
        points=1,
    ),
]
