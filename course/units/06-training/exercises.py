"""What it takes to train the transformer: label smoothing, warm-up, AdamW, a loop, and byte-pair encoding."""

from autograder.api import Contract
from autograder.exercises.contracts import FROM_ZERO, REVERSED, exchange_axes
from course import exercise

EXERCISES = [
    exercise(
        "training.label_smoothing",
        "Label smoothing",
        "tfkit.objectives.label_smoothing:label_smoothed_loss",
        checks="label_smoothing",
        points=2,
        contracts=[
            Contract(
                "words_second",
                "`logits` are `[B,V,T]`: the axis of the words is the second one, as in `F.cross_entropy`.",
                arguments=(("logits", exchange_axes(1, 2)),),
            )
        ],
    ),
    exercise(
        "training.noam",
        "Learning rate with warm-up",
        "tfkit.train.schedules:noam_rate",
        checks="noam",
        contracts=[
            Contract(
                "step_from_zero",
                "`step` counts from 0: the first step of the training is step 0.",
                arguments=(("step", FROM_ZERO),),
            )
        ],
    ),
    exercise(
        "training.adamw",
        "One step of AdamW",
        "tfkit.train.adamw:adamw_step",
        checks="adamw",
        points=2,
        contracts=[
            Contract(
                "moments_first",
                "The results are returned in the order second moment, first moment, parameter.",
                result=REVERSED,
                results_of=(("parameter_only", "{x}"),),
            )
        ],
    ),
    exercise(
        "training.train_loop",
        "A training loop",
        "tfkit.train.by_hand:held_out_loss",
        "tfkit.train.by_hand:train_loop",
        checks="train_loop",
        points=3,
    ),
    exercise(
        "tokenizers.bpe_train",
        "Byte-pair encoding: learn the merges",
        "tfkit.text.bpe:learn_bpe",
        checks="bpe_train",
        points=2,
    ),
    exercise(
        "tokenizers.bpe_apply", "Byte-pair encoding: apply the merges", "tfkit.text.bpe:apply_bpe", checks="bpe_apply"
    ),
]
