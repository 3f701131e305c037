"""The transformer of 2017, layer by layer, up to a model that translates."""

from autograder.api import Exercise

EXERCISES = [
    Exercise(
        id="transformer.feed_forward",
        unit="05-transformer",
        title="The feed-forward part",
        symbols=("FeedForward",),
        references=("tfkit.nn.feed_forward:FeedForward",),
        checks="feed_forward",
        points=1,
    ),
    Exercise(
        id="transformer.encoder_layer",
        unit="05-transformer",
        title="An encoder layer",
        symbols=("EncoderLayer",),
        references=("tfkit.nn.layers:EncoderLayer",),
        checks="encoder_layer",
        points=2,
    ),
    Exercise(
        id="transformer.decoder_layer",
        unit="05-transformer",
        title="A decoder layer",
        symbols=("DecoderLayer",),
        references=("tfkit.nn.layers:DecoderLayer",),
        checks="decoder_layer",
        points=2,
    ),
    Exercise(
        id="transformer.shift_right",
        unit="05-transformer",
        title="What the decoder is fed",
        symbols=("shift_right",),
        references=("tfkit.nn.layers:shift_right",),
        checks="shift_right",
        points=1,
    ),
    Exercise(
        id="transformer.seq2seq",
        unit="05-transformer",
        title="The whole transformer",
        symbols=("Seq2SeqTransformer",),
        references=("tfkit.nn.layers:Seq2SeqTransformer",),
        checks="seq2seq",
        points=4,
    ),
]
