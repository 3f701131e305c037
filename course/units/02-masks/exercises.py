"""Who may look at whom: causal, padding and decoder masks, and a softmax that survives an empty row."""

from autograder.api import Exercise

EXERCISES = [
    Exercise(
        id="masks.causal",
        unit="02-masks",
        title="No looking ahead",
        symbols=("causal_mask",),
        references=("tfkit.nn.masks:causal_mask",),
        checks="causal",
        points=1,
    ),
    Exercise(
        id="masks.padding",
        unit="02-masks",
        title="No looking at padding",
        symbols=("padding_mask",),
        references=("tfkit.nn.masks:padding_mask",),
        checks="padding",
        points=1,
    ),
    Exercise(
        id="masks.decoder",
        unit="02-masks",
        title="Both at once",
        symbols=("decoder_mask",),
        references=("tfkit.nn.masks:decoder_mask",),
        checks="decoder",
        points=1,
    ),
    Exercise(
        id="masks.softmax",
        unit="02-masks",
        title="A softmax that may see nothing",
        symbols=("masked_softmax",),
        references=("tfkit.nn.masks:masked_softmax",),
        checks="softmax",
        points=2,
    ),
]
