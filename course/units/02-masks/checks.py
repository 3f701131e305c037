"""The checks of unit 02: random inputs, and the properties that a solution must have for each of them."""

from autograder.checks import Case, Check, Draw, edges, extremes, function


def causal() -> list[Check]:
    """masks.causal"""

    def cases(draw: Draw):
        for length in (3, 1, 2, draw.integer(4, 12)):
            yield Case("causal_mask", (length,))

    def long(draw: Draw):
        yield Case("causal_mask", (draw.integer(1025, 1050),))

    return function(cases, floats=False, long=long)


def padding() -> list[Check]:
    """masks.padding"""
    long = lambda draw: _long(draw, "padding_mask")
    return function(lambda draw: _batches(draw, "padding_mask"), floats=False, long=long)


def decoder() -> list[Check]:
    """masks.decoder"""
    long = lambda draw: _long(draw, "decoder_mask")
    return function(lambda draw: _batches(draw, "decoder_mask"), floats=False, long=long)


def _long(draw: Draw, symbol: str):
    ids = draw.integers(0, 9, 1, draw.integer(1025, 1050))
    yield Case(symbol, (ids, 3))


def _batches(draw: Draw, symbol: str):
    """Padding behind, in front, in between, everywhere and nowhere, under several ids."""
    for batch, length, pad in [(1, 3, 0), (1, 1, 1), (3, 5, 7), (2, 6, 0), (4, 4, 2)]:
        ids = draw.integers(0, 9, batch, length)
        ids = ids.masked_fill(ids == pad, 9)
        if length > 1:
            ids[0, draw.integer(1, length)] = pad
        if batch > 1:
            ids = ids.masked_fill(~draw.padding_mask(batch, length), pad)
            ids[-1, 0] = pad
        yield Case(symbol, (ids, pad))
    yield Case(symbol, (draw.integers(1, 2, 2, 3), 1))  # nothing but padding
    yield Case(symbol, (draw.integers(2, 9, 2, 3), 1))  # none


def softmax() -> list[Check]:
    """masks.softmax"""

    def cases(draw: Draw, scale: float = 2.0):
        for shape in [(1, 1, 3), (1, 2, 2), (1, 1), (2, 3, 4, 5), (3, 6, 4)]:
            scores = scale * draw.normal(*shape)
            yield Case("masked_softmax", (scores, draw.mask(*shape)), length=shape[-1], amplify=scale)
        yield Case("masked_softmax", (scale * draw.normal(2, 3, 4, 4), draw.mask(2, 1, 1, 4)), amplify=scale)
        zeros = draw.normal(2, 3, 4).masked_fill(draw.mask(2, 3, 4), 0.0)  # an ordinary score, not a sign of hiding
        yield Case("masked_softmax", (zeros, draw.mask(2, 3, 4)), length=4)
        hiding = draw.mask(2, 3, 4)  # what is hidden has e^24 times the weight of what is visible
        yield Case("masked_softmax", (scale * draw.normal(2, 3, 4) + 24.0 * ~hiding, hiding), amplify=scale)

    def nothing(draw: Draw):
        given = [(1, 1, 2), (1, 1), (2, 3, 4, 5), (2, 2, 3)]
        for shape, mask in zip(given, [(1, 1, 2), (1, 1), (3, 4, 5), (2, 1, 3)], strict=True):
            scores = 2.0 * draw.normal(*shape)
            yield Case("masked_softmax", (scores, draw.mask(*mask, empty_row=True)), length=shape[-1], amplify=2.0)

    def low(draw: Draw):  # a fixed score for what is hidden would be above all that a row sees
        yield Case("masked_softmax", (draw.normal(2, 3, 4) - 12_000.0, draw.mask(2, 3, 4)), length=4, amplify=12_000.0)

    seen = edges(nothing, "a row that may see nothing", weight=4.0)  # it is half of what the exercise is about
    return [*function(cases), seen, extremes(lambda draw: [*cases(draw, 5e3), *low(draw)])]
