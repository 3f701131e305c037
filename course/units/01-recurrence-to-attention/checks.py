"""The checks of unit 01: random inputs, and the properties that a solution must have for each of them."""

from autograder.checks import ATTENTION, RECURRENT, Case, Check, Draw, built, edges, extremes, function

NOTHING = "a row that may see nothing"
MASKS = "02-masks"  # the unit that is about such rows
LOW = -12_000.0  # all scores that a query sees, in one case: a fixed score for what is hidden would be above them
SIZES = [(1, 1, 2, 3), (1, 2, 1, 1), (3, 5, 4, 6), (2, 7, 6, 5)]  # batch, length, input width, hidden width


def cell() -> list[Check]:
    """rnn.cell"""

    def cases(draw: Draw):
        for batch, _, width, hidden in SIZES:
            args = (draw.normal(batch, width), draw.normal(batch, hidden), *_weights(draw, width, hidden))
            yield Case("rnn_cell", args, length=width + hidden)

    return [*function(cases), built(cases, RECURRENT)]


def encode() -> list[Check]:
    """rnn.encode"""

    def cases(draw: Draw):
        for batch, length, width, hidden in SIZES:
            args = (draw.normal(batch, length, width), *_weights(draw, width, hidden))
            yield Case("rnn_encode", args, length=(width + hidden) * 4 * length)

    def long(draw: Draw):
        yield Case("rnn_encode", (draw.normal(1, 70, 2), *_weights(draw, 2, 2)), length=16 * 70)

    return [*function(cases, long=long), built(cases, RECURRENT)]


def _weights(draw: Draw, width: int, hidden: int):
    return 0.5 * draw.normal(width, hidden), 0.5 * draw.normal(hidden, hidden), 0.5 * draw.normal(hidden)


def attend() -> list[Check]:
    """attention.attend"""

    def cases(draw: Draw, scale: float = 1.0, sizes=((1, 2, 2), (1, 1, 3), (3, 5, 4), (2, 7, 6)), empty=False):
        for batch, length, hidden in sizes:
            args = (scale * draw.normal(batch, hidden), scale * draw.normal(batch, length, hidden))
            mask = draw.mask(batch, length, empty_row=empty)
            yield Case("attend", (*args, mask), length=hidden, amplify=_largest(*args))

    def nothing(draw: Draw):
        return cases(draw, sizes=[(1, 2, 2), (2, 1, 2), (3, 5, 4)], empty=True)

    def low(draw: Draw):
        batch, length, hidden = 2, 4, 3
        query, keys = _low(draw, (batch, hidden), (batch, length, hidden), hidden)
        yield Case("attend", (query, keys, draw.mask(batch, length)), length=hidden, amplify=_largest(query, keys))

    own = [extremes(lambda draw: [*cases(draw, 50.0), *low(draw)]), built(cases, ATTENTION)]
    return [*function(cases), edges(nothing, NOTHING, later=MASKS), *own]


def _low(draw: Draw, query: tuple, keys: tuple, divisor: float):
    """Queries and keys of these shapes whose products, `divisor` times a product of two numbers, are all about LOW."""
    size = (-LOW / divisor) ** 0.5
    return size * (1 + 1e-4 * draw.normal(*query)), -size * (1 + 1e-4 * draw.normal(*keys))


def scaled_dot_product() -> list[Check]:
    """attention.scaled_dot_product"""

    def cases(draw: Draw, scale: float = 1.0):
        shapes = [((1,), 2, 3, 2, 2), ((1,), 1, 1, 2, 3), ((), 3, 2, 4, 4), ((2, 3), 4, 5, 6, 3), ((2,), 5, 5, 4, 4)]
        for batch, queries, keys, width, out in shapes:
            q, k = scale * draw.normal(*batch, queries, width), scale * draw.normal(*batch, keys, width)
            v = draw.normal(*batch, keys, out)
            mask = draw.mask(*batch, queries, keys)
            for args in ((q, k, v), (q, k, v, mask)):
                yield Case("scaled_dot_product_attention", args, length=width, amplify=_largest(q, k))
        broadcast = draw.mask(2, 1, 1, 4)
        yield Case("scaled_dot_product_attention", (*(draw.normal(2, 3, 4, 2) for _ in range(3)), broadcast), amplify=4)

    def nothing(draw: Draw):
        for shape, mask in [((1, 1, 2, 2), (1, 1, 2)), ((2, 3, 4, 4), (3, 4)), ((2, 2, 3, 2), (2, 1, 3))]:
            batch, queries, keys, width = shape
            args = [draw.normal(batch, length, width) for length in (queries, keys, keys)]
            args.append(draw.mask(*mask, empty_row=True))
            yield Case("scaled_dot_product_attention", tuple(args), length=width, amplify=_largest(*args[:2]))

    def low(draw: Draw):
        for batch, queries, keys, width in [((), 2, 3, 4), ((2,), 3, 4, 1)]:
            q, k = _low(draw, (*batch, queries, width), (*batch, keys, width), width**0.5)
            args = (q, k, draw.normal(*batch, keys, 2), draw.mask(*batch, queries, keys))
            yield Case("scaled_dot_product_attention", args, length=width, amplify=_largest(q, k))

    own = [extremes(lambda draw: [*cases(draw, 50.0), *low(draw)]), built(cases, ATTENTION)]
    return [*function(cases), edges(nothing, NOTHING, later=MASKS), *own]


def _largest(query, key) -> float:
    return float(query.abs().max() * key.abs().max() * query.size(-1))
