"""What is asked of unit 01: draws, and the properties that every draw must have."""

from autograder.checks import ATTENTION, RECURRENT, Case, Check, Draw, built, extremes, function

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

    return [*function(cases), built(cases, RECURRENT)]


def _weights(draw: Draw, width: int, hidden: int):
    return 0.5 * draw.normal(width, hidden), 0.5 * draw.normal(hidden, hidden), 0.5 * draw.normal(hidden)


def attend() -> list[Check]:
    """attention.attend"""

    def cases(draw: Draw, scale: float = 1.0):
        for batch, length, hidden, empty in [
            (1, 2, 2, False),
            (1, 1, 3, False),
            (3, 5, 4, True),
            (2, 7, 6, False),
            (2, 1, 2, True),
        ]:
            args = (scale * draw.normal(batch, hidden), scale * draw.normal(batch, length, hidden))
            yield Case(
                "attend", (*args, draw.mask(batch, length, empty_row=empty)), length=hidden, amplify=_largest(*args)
            )

    return [*function(cases), extremes(lambda draw: cases(draw, 50.0)), built(cases, ATTENTION)]


def scaled_dot_product() -> list[Check]:
    """attention.scaled_dot_product"""

    def cases(draw: Draw, scale: float = 1.0):
        shapes = [((1,), 2, 3, 2, 2), ((1,), 1, 1, 2, 3), ((), 3, 2, 4, 4), ((2, 3), 4, 5, 6, 3), ((2,), 5, 5, 4, 4)]
        for place, (batch, queries, keys, width, out) in enumerate(shapes):
            q, k = scale * draw.normal(*batch, queries, width), scale * draw.normal(*batch, keys, width)
            v = draw.normal(*batch, keys, out)
            mask = draw.mask(*batch, queries, keys, empty_row=place == 3)
            for args in ((q, k, v), (q, k, v, mask)):
                yield Case("scaled_dot_product_attention", args, length=width, amplify=_largest(q, k))
        broadcast = draw.mask(2, 1, 1, 4)
        yield Case("scaled_dot_product_attention", (*(draw.normal(2, 3, 4, 2) for _ in range(3)), broadcast), amplify=4)

    return [*function(cases), extremes(lambda draw: cases(draw, 50.0)), built(cases, ATTENTION)]


def _largest(query, key) -> float:
    return float(query.abs().max() * key.abs().max() * query.size(-1))
