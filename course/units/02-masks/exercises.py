"""Who may look at whom: causal, padding and decoder masks, and a softmax that survives an empty row."""

from course import exercise

EXERCISES = [
    exercise("masks.causal", "No looking ahead", "tfkit.nn.masks:causal_mask", checks="causal"),
    exercise("masks.padding", "No looking at padding", "tfkit.nn.masks:padding_mask", checks="padding"),
    exercise("masks.decoder", "Both at once", "tfkit.nn.masks:decoder_mask", checks="decoder"),
    exercise(
        "masks.softmax", "A softmax that may see nothing", "tfkit.nn.masks:masked_softmax", checks="softmax", points=2
    ),
]
