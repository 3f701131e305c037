"""What it takes to train the transformer: a softer target, a careful start, a step, and words cut into pieces."""

from course import exercise

EXERCISES = [
    exercise(
        "training.label_smoothing",
        "Do not be too sure",
        "tfkit.objectives.label_smoothing:label_smoothed_loss",
        checks="label_smoothing",
        points=2,
    ),
    exercise("training.noam", "Warm up, then slow down", "tfkit.train.schedules:noam_rate", checks="noam"),
    exercise("training.adamw", "Take a step", "tfkit.train.adamw:adamw_step", checks="adamw", points=2),
    exercise(
        "tokenizers.bpe_train",
        "Learn which pieces belong together",
        "tfkit.text.bpe:learn_bpe",
        checks="bpe_train",
        points=2,
    ),
    exercise(
        "tokenizers.bpe_apply", "Cut a new word into known pieces", "tfkit.text.bpe:apply_bpe", checks="bpe_apply"
    ),
]
