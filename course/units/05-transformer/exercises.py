"""The transformer of 2017, layer by layer, up to a model that translates."""

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
    ),
    exercise(
        "transformer.decoder_layer", "A decoder layer", "tfkit.nn.layers:DecoderLayer", checks="decoder_layer", points=2
    ),
    exercise("transformer.shift_right", "Shift the targets right", "tfkit.nn.layers:shift_right", checks="shift_right"),
    exercise(
        "transformer.seq2seq", "The whole transformer", "tfkit.nn.layers:Seq2SeqTransformer", checks="seq2seq", points=4
    ),
]
