"""Fast: attention in blocks, forward and back, a loss in chunks, a cache in pages, weights of a byte each."""

from course import exercise

MODULE = "tfkit.nn.fast"

EXERCISES = [
    exercise("fast.merge", "Put two halves together", f"{MODULE}:merge_attention", checks="merge", points=2),
    exercise(
        "fast.flash_attention",
        "Attention without the table",
        f"{MODULE}:flash_attention",
        checks="flash_attention",
        points=4,
    ),
    exercise(
        "fast.flash_backward",
        "And back, without the table",
        f"{MODULE}:flash_backward",
        checks="flash_backward",
        points=4,
    ),
    exercise(
        "fast.chunked_loss",
        "A loss without all the logits",
        f"{MODULE}:chunked_cross_entropy",
        checks="chunked_loss",
        points=2,
    ),
    exercise(
        "fast.paged_attention",
        "A cache in pages",
        f"{MODULE}:paged_attention",
        checks="paged_attention",
        points=3,
    ),
    exercise(
        "fast.quantize",
        "A byte for each weight",
        f"{MODULE}:quantize_rows",
        f"{MODULE}:dequantize_rows",
        checks="quantize",
        points=2,
    ),
]
