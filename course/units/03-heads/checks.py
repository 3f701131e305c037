"""The checks of unit 03: random inputs, and the properties that a solution must have for each of them."""

from autograder.checks import ATTENTION, Case, Check, Draw, built, edges, function, module, squared_error, trains


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

    def lesson(draw: Draw):
        x, wanted = draw.normal(2, 4, 8), draw.normal(2, 4, 8)
        case = draw.module("MultiHeadAttention", (8, 2), (x, x, x), length=128, amplify=4.0, select=_output)
        yield case, squared_error(wanted)

    return [*module(cases), edges(nothing, "a row that may see nothing"), trains(lesson), built(cases, ATTENTION)]


def _output(value):
    return value[0] if isinstance(value, tuple) and value else value
