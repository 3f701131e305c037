"""The checks of unit 03: random inputs, and the properties that a solution must have for each of them."""

from dataclasses import replace

import torch

from autograder.checks import (
    ATTENTION,
    Case,
    Check,
    Draw,
    built,
    edges,
    extremes,
    function,
    module,
    squared_error,
    trains,
)

LOW = -12_000.0  # all scores that a query sees, in one case: a fixed score for what is hidden would be above them


def split_heads() -> list[Check]:
    """attention.split_heads, and its inverse"""

    def cases(draw: Draw):
        for batch, length, heads, width in [(1, 2, 2, 1), (1, 1, 1, 3), (2, 3, 2, 3), (3, 5, 4, 2)]:
            yield Case("split_heads", (draw.normal(batch, length, heads * width), heads))
            yield Case("merge_heads", (draw.normal(batch, heads, length, width),))

    return function(cases)


def multi_head() -> list[Check]:
    """attention.multi_head"""

    def cases(draw: Draw):
        sizes = [(1, 2, 2, 4, 2), (1, 1, 1, 2, 1), (2, 3, 5, 12, 3), (3, 4, 4, 8, 4)]
        for place, (batch, queries, keys, width, heads) in enumerate(sizes):
            inputs = (draw.normal(batch, queries, width), *(draw.normal(batch, keys, width) for _ in range(2)))
            masks = [draw.mask(batch, 1, queries, keys), draw.mask(batch, 1, 1, keys)]
            for args in (inputs, (*inputs, masks[place % 2])):
                yield draw.module("MultiHeadAttention", (width, heads), args, length=16 * width, amplify=4.0)

    def nothing(draw: Draw):
        for (batch, queries, keys, width, heads), shape in [((1, 1, 1, 2, 1), (1, 1)), ((2, 3, 5, 8, 2), (3, 5))]:
            inputs = (draw.normal(batch, queries, width), *(draw.normal(batch, keys, width) for _ in range(2)))
            mask = draw.mask(batch, 1, *shape, empty_row=True)
            args = (*inputs, mask)
            yield draw.module("MultiHeadAttention", (width, heads), args, length=16 * width, amplify=4.0)

    def low(draw: Draw):  # biases of the queries and of the keys, whose product is the score; the inputs hardly count
        for batch, queries, keys, width, heads in [(1, 2, 3, 2, 2), (2, 3, 4, 8, 2)]:
            inputs = (0.01 * draw.normal(batch, queries, width), 0.01 * draw.normal(batch, keys, width))
            args = (*inputs, draw.normal(batch, keys, width), draw.mask(batch, 1, queries, keys))
            case = draw.module("MultiHeadAttention", (width, heads), args, length=16 * width, amplify=-LOW)
            bias = torch.full((width,), (-LOW / (width // heads) ** 0.5) ** 0.5)
            yield replace(case, state={**(case.state or {}), "q_proj.bias": bias, "k_proj.bias": -bias})

    def lesson(draw: Draw):
        x, wanted = draw.normal(2, 4, 8), draw.normal(2, 4, 8)
        case = draw.module("MultiHeadAttention", (8, 2), (x, x, x), length=128, amplify=4.0, select=_output)
        yield case, squared_error(wanted)

    own = [edges(nothing, "a row that may see nothing"), extremes(low), trains(lesson), built(cases, ATTENTION)]
    return [*module(cases), *own]


def _output(value):
    return value[0] if isinstance(value, tuple) and value else value
