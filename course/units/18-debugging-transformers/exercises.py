"""Debugging transformers: what reaches what, what learns nothing, where two models part, and one batch by heart."""

from course import exercise

MODULE = "tfkit.inside.debug"

EXERCISES = [
    exercise(
        "debugging.information_flow",
        "Information flow",
        f"{MODULE}:information_flow",
        checks="information_flow",
        points=2,
    ),
    exercise(
        "debugging.gradient_flow",
        "Gradient flow",
        f"{MODULE}:gradient_flow",
        checks="gradient_flow",
        points=2,
    ),
    exercise(
        "debugging.first_difference",
        "The first layer that differs",
        f"{MODULE}:recorded_outputs",
        f"{MODULE}:first_difference",
        checks="first_difference",
        points=3,
    ),
    exercise(
        "debugging.overfit",
        "One batch by heart",
        f"{MODULE}:overfit",
        checks="overfit",
        points=2,
    ),
]
