"""Fast: attention in blocks, forward and backward, a loss in chunks, a cache in pages, weights of a byte each."""

from autograder.api import Contract
from autograder.exercises.contracts import SWAPPED
from course import exercise

MODULE = "tfkit.nn.fast"

EXERCISES = [
    exercise(
        "fast.merge",
        "Merge attention over two halves",
        f"{MODULE}:merge_attention",
        checks="merge",
        points=2,
        contracts=[Contract("lse_first", "The log-sum-exp is returned first, the output second.", result=SWAPPED)],
    ),
    exercise(
        "fast.flash_attention",
        "FlashAttention: forward pass",
        f"{MODULE}:flash_attention",
        checks="flash_attention",
        points=4,
        contracts=[Contract("lse_first", "The log-sum-exp is returned first, the output second.", result=SWAPPED)],
    ),
    exercise(
        "fast.flash_backward",
        "FlashAttention: backward pass",
        f"{MODULE}:flash_backward",
        checks="flash_backward",
        points=4,
    ),
    exercise(
        "fast.chunked_loss",
        "Cross-entropy in chunks",
        f"{MODULE}:chunked_cross_entropy",
        checks="chunked_loss",
        points=2,
    ),
    exercise(
        "fast.paged_attention",
        "Paged attention",
        f"{MODULE}:paged_attention",
        checks="paged_attention",
        points=3,
    ),
    exercise(
        "fast.quantize",
        "Weight quantisation",
        f"{MODULE}:quantize_rows",
        f"{MODULE}:dequantize_rows",
        checks="quantize",
        points=2,
    ),
]
