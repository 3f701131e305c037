"""Which positions may attend to which: causal, padding and decoder masks, and a softmax that survives an empty row."""

from course import exercise

EXERCISES = [
    exercise("masks.causal", "Causal mask", "tfkit.nn.masks:causal_mask", checks="causal"),
    exercise("masks.padding", "Padding mask", "tfkit.nn.masks:padding_mask", checks="padding"),
    exercise("masks.decoder", "Decoder mask: causal and padding", "tfkit.nn.masks:decoder_mask", checks="decoder"),
    exercise(
        "masks.softmax",
        "Masked softmax with fully masked rows",
        "tfkit.nn.masks:masked_softmax",
        checks="softmax",
        points=2,
    ),
]
