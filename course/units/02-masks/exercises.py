"""Which positions may attend to which: causal, padding and decoder masks, and a softmax that survives an empty row."""

from autograder.api import Contract
from autograder.exercises.contracts import INVERTED
from course import exercise

EXERCISES = [
    exercise(
        "masks.causal",
        "Causal mask",
        "tfkit.nn.masks:causal_mask",
        checks="causal",
        contracts=[
            Contract(
                "hidden",
                "In the mask that you return, True hides a key, and False shows it.",
                result=INVERTED,
                results_of=(("minus_infinities", "{x}"), ("numbers_instead_of_booleans", "1 - {x}")),
            )
        ],
    ),
    exercise(
        "masks.padding",
        "Padding mask",
        "tfkit.nn.masks:padding_mask",
        checks="padding",
        contracts=[
            Contract(
                "hidden",
                "In the mask that you return, True hides a key, and False shows it.",
                result=INVERTED,
                results_of=(("minus_infinities", "{x}"),),
            )
        ],
    ),
    exercise(
        "masks.decoder",
        "Decoder mask: causal and padding",
        "tfkit.nn.masks:decoder_mask",
        checks="decoder",
        contracts=[
            Contract("hidden", "In the mask that you return, True hides a key, and False shows it.", result=INVERTED)
        ],
    ),
    exercise(
        "masks.softmax",
        "Masked softmax with fully masked rows",
        "tfkit.nn.masks:masked_softmax",
        checks="softmax",
        points=2,
        contracts=[
            Contract(
                "hidden",
                "In the mask that you are given, True hides a key, and False shows it.",
                arguments=(("mask", INVERTED),),
            )
        ],
    ),
]
