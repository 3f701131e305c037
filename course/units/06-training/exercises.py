"""What it takes to train the transformer: a softer target, a careful start, and words cut into pieces."""

from autograder.api import Exercise

EXERCISES = [
    Exercise(
        id="training.label_smoothing",
        unit="06-training",
        title="Do not be too sure",
        symbols=("label_smoothed_loss",),
        references=("tfkit.objectives.label_smoothing:label_smoothed_loss",),
        checks="label_smoothing",
        points=2,
    ),
    Exercise(
        id="training.noam",
        unit="06-training",
        title="Warm up, then slow down",
        symbols=("noam_rate",),
        references=("tfkit.train.schedules:noam_rate",),
        checks="noam",
        points=1,
    ),
    Exercise(
        id="tokenizers.bpe_train",
        unit="06-training",
        title="Learn which pieces belong together",
        symbols=("learn_bpe",),
        references=("tfkit.text.bpe:learn_bpe",),
        checks="bpe_train",
        points=2,
    ),
    Exercise(
        id="tokenizers.bpe_apply",
        unit="06-training",
        title="Cut a new word into known pieces",
        symbols=("apply_bpe",),
        references=("tfkit.text.bpe:apply_bpe",),
        checks="bpe_apply",
        points=1,
    ),
]
