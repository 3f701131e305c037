"""The transformer of 2017, layer by layer, up to a model that translates."""

from autograder.api import Contract
from autograder.exercises.contracts import INVERTED, LENGTH_FIRST
from course import exercise

EXERCISES = [
    exercise(
        "transformer.feed_forward",
        "The feed-forward network",
        "tfkit.nn.feed_forward:FeedForward",
        checks="feed_forward",
    ),
    exercise(
        "transformer.encoder_layer",
        "An encoder layer",
        "tfkit.nn.layers:EncoderLayer",
        checks="encoder_layer",
        points=2,
        contracts=[
            Contract(
                "length_first",
                "`x` and the result are `[S,B,E]`: the length comes first, the batch second. In `mask`, True "
                "hides a key.",
                result=LENGTH_FIRST,
                arguments=(("x", LENGTH_FIRST), ("mask", INVERTED)),
            )
        ],
    ),
    exercise(
        "transformer.decoder_layer",
        "A decoder layer",
        "tfkit.nn.layers:DecoderLayer",
        checks="decoder_layer",
        points=2,
        contracts=[
            Contract(
                "hidden",
                "In both masks, True hides a key, and False shows it.",
                arguments=(("self_mask", INVERTED), ("memory_mask", INVERTED)),
            )
        ],
    ),
    exercise(
        "transformer.shift_right",
        "Shift the targets right",
        "tfkit.nn.layers:shift_right",
        checks="shift_right",
        contracts=[
            Contract(
                "length_first",
                "`ids` and the result are `[T,B]`: the length comes first, the batch second.",
                result=LENGTH_FIRST,
                arguments=(("ids", LENGTH_FIRST),),
            )
        ],
    ),
    exercise(
        "transformer.seq2seq", "The whole transformer", "tfkit.nn.layers:Seq2SeqTransformer", checks="seq2seq", points=4
    ),
]
