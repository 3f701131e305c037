"""A grader of our own for `autograder benchmark run`: one assert, which the entry point in pyproject.toml names."""

from autograder.benchmark.grader import TestSource

GRADER = TestSource(
    title="one assert",
    follows="nothing: an example",
    tests={
        "masks.causal": "assert causal_mask(2).tolist() == [[True, False], [True, True]]",
    },
)
