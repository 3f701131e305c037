"""The checks of unit 05: random inputs, and the properties that a solution must have for each of them."""

import torch

from autograder.checks import (
    Case,
    Check,
    Draw,
    cross_entropy,
    edges,
    flow,
    function,
    module,
    precision,
    squared_error,
    trains,
)

NOTHING = "a row that may see nothing"
SIZES = [(1, 2, 2, 4, 2, 3), (1, 1, 1, 4, 1, 4), (2, 3, 5, 8, 4, 6), (3, 5, 4, 6, 3, 12)]  # B, T, S, E, H, F
ALIKE = (2, 4, 4, 4, 2, 6)  # source and target of one shape, so that only their padding tells them apart


def feed_forward() -> list[Check]:
    """transformer.feed_forward"""

    def cases(draw: Draw):
        for batch, length, _, width, _, inner in SIZES:
            yield draw.module("FeedForward", (width, inner), (draw.normal(batch, length, width),), length=width + inner)

    def lesson(draw: Draw):
        x, wanted = draw.normal(2, 4, 8), draw.normal(2, 4, 8)
        yield draw.module("FeedForward", (8, 32), (x,), length=40), squared_error(wanted)

    return [*module(cases), trains(lesson, own=True)]


def encoder_layer() -> list[Check]:
    """transformer.encoder_layer"""

    def cases(draw: Draw, sizes=SIZES, bare=True, empty=False):
        for place, (batch, _, length, width, heads, inner) in enumerate(sizes):
            x = draw.normal(batch, length, width)
            mask = draw.mask(batch, 1, *[(length, length), (1, length)][place % 2], empty_row=empty)
            for args in ((x,), (x, mask)) if bare else ((x, mask),):
                yield draw.module("EncoderLayer", (width, heads, inner), args, length=64 * width, amplify=4.0)

    def nothing(draw: Draw):
        return cases(draw, [(1, 0, 2, 4, 2, 3), (2, 0, 3, 4, 2, 6)], bare=False, empty=True)

    seen = flow(lambda draw: cases(draw, [(2, 0, 3, 4, 2, 6)], bare=False), 0)
    return [*module(cases), edges(nothing, NOTHING), seen]


def decoder_layer() -> list[Check]:
    """transformer.decoder_layer"""

    def cases(draw: Draw, sizes=(*SIZES, ALIKE), bare=True, empty=()):
        for batch, target, source, width, heads, inner in sizes:
            states = draw.normal(batch, target, width), draw.normal(batch, source, width)
            shapes = [(target, target), (1, source)]
            masks = [draw.mask(batch, 1, *shape, empty_row=place in empty) for place, shape in enumerate(shapes)]
            for args in (states, (*states, *masks)) if bare else ((*states, *masks),):
                yield draw.module("DecoderLayer", (width, heads, inner), args, length=64 * width, amplify=4.0)

    def small(draw):
        return cases(draw, [(2, 3, 2, 4, 2, 6)], bare=False)

    def nothing(draw: Draw):
        for empty in [(0,), (1,), (0, 1)]:
            yield from cases(draw, [(2, 3, 2, 4, 2, 6)], bare=False, empty=empty)

    seen = [flow(small, 0), flow(small, 1, "who sees which memory")]
    return [*module(cases), edges(nothing, NOTHING), *seen]


def shift_right() -> list[Check]:
    """transformer.shift_right"""

    def cases(draw: Draw):
        for batch, length, start in [(1, 3, 1), (1, 1, 0), (3, 5, 2), (2, 1, 7)]:
            yield Case("shift_right", (draw.integers(0, 9, batch, length), start))

    return function(cases, floats=False)


def seq2seq() -> list[Check]:
    """transformer.seq2seq: whole, and its encode and decode alone"""

    def cases(draw: Draw):
        for place, (batch, target, source, width, heads, inner) in enumerate([*SIZES, ALIKE]):
            pad, layers = [0, 2, 1, 3, 5][place], 1 + place % 2
            src, tgt = _sentences(draw, batch, source, pad), _sentences(draw, batch, target, pad).flip(0)
            init = (8, 9, width, heads, inner, layers, pad)
            how = {
                "length": 256 * width * layers,
                "amplify": 8.0,
                "eps": torch.finfo(torch.float32).eps,
            }  # positions in float32
            yield draw.module("Seq2SeqTransformer", init, (src, tgt), graded_mask=tgt != pad, **how)
            yield draw.module("Seq2SeqTransformer", init, (src,), method="encode", graded_mask=src != pad, **how)
            memory = draw.normal(batch, source, width)
            yield draw.module(
                "Seq2SeqTransformer", init, (tgt, memory, src), method="decode", graded_mask=tgt != pad, **how
            )

    def long(draw: Draw):
        src, tgt = draw.integers(1, 8, 1, draw.integer(515, 530)), draw.integers(1, 8, 1, draw.integer(65, 80))
        yield draw.module("Seq2SeqTransformer", (8, 9, 4, 1, 4, 1, 0), (src, tgt), length=2**14, amplify=8.0,
                          eps=torch.finfo(torch.float32).eps)  # fmt: skip

    def lesson(draw: Draw):
        src, tgt = (draw.integers(1, 8, 4, 5) for _ in range(2))
        init, wanted = (8, 9, 8, 2, 16, 1, 0), draw.integers(1, 9, 4, 5)
        yield draw.module("Seq2SeqTransformer", init, (src, tgt), length=2048, amplify=8.0), cross_entropy(wanted, 0)

    asked = module(cases, floats=False, long=long)
    return [*asked, precision(cases, torch.bfloat16), trains(lesson, own=True)]


def _sentences(draw: Draw, batch: int, length: int, pad: int):
    """Ids [B,L], of which the first row has no padding and the second has some."""
    ids = draw.integers(0, 8, batch, length)
    return ids.masked_fill(ids == pad, 4).masked_fill(~draw.padding_mask(batch, length), pad)
