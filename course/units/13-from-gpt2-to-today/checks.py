"""The checks of unit 13: random inputs, and the properties that a solution must have for each of them."""

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from autograder.checks import (
    Case,
    Check,
    Draw,
    contiguity,
    edges,
    extremes,
    flow,
    function,
    gradients,
    module,
    precision,
    purity,
    values,
    work,
)

SINGLE = torch.finfo(torch.float32).eps
NOTHING = "a row that may see nothing"


def rms_norm() -> list[Check]:
    """modern.rms_norm: float64 is graded as float32, since the mean may be taken in float32"""

    def cases(draw: Draw, scale: float = 1.0):
        for shape in [(1, 2), (3,), (2, 3, 4), (4, 1, 1), (2, 2, 3, 5), (3, 3)]:
            given = (scale * draw.normal(*shape), 1.0 + 0.5 * draw.normal(shape[-1]))
            yield Case("rms_norm", given, length=shape[-1], eps=SINGLE)
            yield Case("rms_norm", given, {"eps": 0.3}, length=shape[-1], eps=SINGLE)
        small = 1e-3 * draw.normal(2, 3, 4), 1.0 + 0.5 * draw.normal(4)  # where the default eps matters
        yield Case("rms_norm", small, length=4, eps=SINGLE)

    def long(draw: Draw):
        yield Case("rms_norm", (draw.normal(3, 520), draw.normal(520)), length=520, eps=SINGLE)

    def squares(draw: Draw):  # of 400 are beyond float16
        yield Case("rms_norm", (400.0 * draw.normal(2, 3, 4), 1.0 + 0.5 * draw.normal(4)), length=4)

    half = precision(squares, torch.float16)
    return [*function(cases, long=long), half, extremes(partial(cases, scale=1e4))]


def swiglu() -> list[Check]:
    """modern.swiglu"""

    def cases(draw: Draw):
        for batch, length, width, inner in [(1, 1, 2, 3), (2, 3, 4, 6), (3, 2, 5, 4), (1, 4, 1, 2)]:
            args = (2 * draw.normal(batch, length, width),)
            yield draw.module("SwiGLU", (width, inner), args, length=4 * (width + inner), amplify=4.0)

    return module(cases)


def rotary_halves() -> list[Check]:
    """modern.rotary_halves: also far from the start, where an angle in half precision has no digits left"""

    def cases(draw: Draw, farthest: int = 40):
        for shape, base in [
            ((1, 2), None),
            ((2, 4), None),
            ((3, 6), 100.0),
            ((2, 1, 4), None),
            ((1, 2, 5, 8), 500.0),
            ((3, 2, 4, 10), None),
        ]:
            positions = draw.integers(0, farthest, shape[-2])  # in any order, some twice
            positions[0] = farthest  # whatever is drawn, something turns
            rest = () if base is None else (base,)
            yield Case("apply_rotary_halves", (draw.normal(*shape), positions, *rest), length=farthest**2, eps=SINGLE)

    def coarse(draw: Draw):
        return [replace(case, length=4) for case in cases(draw, 3000)]

    return [
        values(cases),
        values(partial(cases, farthest=30_000), "far from the start", 1.0, core=False),
        purity(cases),
        precision(cases, torch.float64),
        precision(coarse, torch.bfloat16),
        gradients(cases),
        contiguity(cases),
    ]


def grouped_query() -> list[Check]:
    """modern.grouped_query"""

    def cases(draw: Draw):
        for place, (batch, length, width, heads, groups) in enumerate(
            [(1, 1, 2, 1, 1), (1, 3, 4, 2, 1), (2, 3, 8, 4, 2), (2, 4, 12, 6, 3), (3, 5, 12, 6, 2), (2, 2, 6, 3, 3)]
        ):
            x, masks = (
                draw.normal(batch, length, width),
                (draw.mask(batch, 1, length, length), draw.mask(length, length)),
            )
            for args in ((x,), (x, masks[place % 2])):
                yield _attention(draw, (width, heads, groups), args)
        x = draw.normal(2, 4, 8)
        yield _attention(draw, (8, 4, 2), (x, draw.mask(2, 4, 4, 4)))  # a mask of its own for each head

    def nothing(draw: Draw):
        for batch, length, width, heads, groups in [(1, 1, 2, 1, 1), (2, 3, 8, 4, 2)]:
            mask = draw.mask(batch, 1, length, length, empty_row=True)
            yield _attention(draw, (width, heads, groups), (draw.normal(batch, length, width), mask))

    def small(draw: Draw):
        causal = torch.ones(4, 4, dtype=torch.bool).tril()
        yield _attention(draw, (8, 4, 2), (draw.normal(2, 4, 8), causal))

    return [*module(cases), edges(nothing, NOTHING), flow(small, 0)]


def _attention(draw: Draw, init: tuple[int, int, int], args: tuple) -> Case:
    return draw.module("GroupedQueryAttention", init, args, length=16 * init[0], amplify=4.0)


def sink_mask() -> list[Check]:
    """modern.sink_mask"""

    def cases(draw: Draw):
        for length, window, sinks in [
            (1, 1, 0),
            (1, 3, 2),
            (4, 1, 0),  # each sees itself
            (5, 2, 1),
            (6, 3, 0),
            (7, 2, 3),
            (6, 1, 2),
            (5, 9, 0),  # wider than the text
            (4, 2, 8),  # more sinks than text
            (8, draw.integer(2, 5), draw.integer(1, 3)),
        ]:
            yield Case("sink_mask", (length, window, sinks))

    def long(draw: Draw):
        yield Case("sink_mask", (draw.integer(515, 530), 70, 4))

    return function(cases, floats=False, long=long)


def route() -> list[Check]:
    """modern.route: no two logits so near that bfloat16 could not tell"""

    def cases(draw: Draw, scale: float = 0.25):
        for tokens, experts, k in [(1, 1, 1), (1, 3, 2), (4, 4, 1), (3, 5, 5), (6, 8, 2), (5, 6, 3)]:
            yield Case("route", (_distinct(draw, tokens, experts, scale), k))

    return [*function(cases), extremes(partial(cases, scale=1e3))]


def _distinct(draw: Draw, tokens: int, experts: int, scale: float) -> Tensor:
    """Logits [N,X] of which no two in a row are alike, in bfloat16 either."""
    ranks = torch.rand(tokens, experts, generator=draw.generator).argsort(-1)
    return scale * (ranks - experts // 2).float()


def experts() -> list[Check]:
    """modern.experts"""

    def cases(draw: Draw):
        for batch, length, width, inner, count, k in [
            (1, 1, 2, 3, 1, 1),
            (1, 3, 3, 2, 3, 1),
            (2, 3, 4, 3, 4, 2),
            (2, 2, 4, 2, 3, 3),  # every token takes all
            (3, 4, 6, 4, 5, 2),
        ]:
            yield _routed(draw, batch, length, (width, inner, count, k))

    def unused(draw: Draw):
        case = _routed(draw, 1, 1, (4, 3, 5, 1))  # four experts that nobody chose
        yield case

    def small(draw: Draw):
        yield _routed(draw, 2, 3, (4, 3, 3, 2))

    def many(draw: Draw):
        return draw.module("MixtureOfExperts", (16, 32, 12, 1), (2 * draw.normal(1, 12, 16),))

    chosen = values(unused, "experts that nobody chose", 1.0, core=False)
    message = "Your layer runs experts on tokens that did not choose them, so that few experts per token save no work."
    return [*module(cases), chosen, flow(small, 0), work(many, message)]


def _routed(draw: Draw, batch: int, length: int, init: tuple[int, int, int, int]) -> Case:
    """A layer and tokens whose choice is clear, in bfloat16 too; where there are enough, no two choose alike."""
    while True:
        case = draw.module("MixtureOfExperts", init, (2 * draw.normal(batch, length, init[0]),), length=64, amplify=4.0)
        assert case.state is not None
        logits = (case.args[0].flatten(0, 1) @ case.state["router.weight"].T).sort(descending=True).values
        if init[2] == init[3] or (logits[:, init[3] - 1] - logits[:, init[3]]).min() > 0.15:
            return case


def balance_loss() -> list[Check]:
    """modern.balance_loss"""

    def cases(draw: Draw, scale: float = 0.25):
        for tokens, count, k in [(1, 2, 1), (4, 3, 1), (6, 4, 2), (5, 5, 5), (8, 6, 3), (3, 8, 2)]:
            logits = _distinct(draw, tokens, count, scale)
            logits[:, 0] += 3 * scale * count  # the first is everybody's favourite, which the loss is against
            yield Case("balance_loss", (logits, k), length=tokens * count)

    return [*function(cases), extremes(partial(cases, scale=1e3))]


def latent_attention() -> list[Check]:
    """modern.latent_attention: the values, and that keys and values are not unpacked for the whole text"""

    def cases(draw: Draw, scale: float = 1.0):
        for place, (batch, heads, queries, keys, width, rank, out) in enumerate(
            [
                (1, 1, 1, 1, 1, 1, 1),
                (1, 2, 1, 3, 2, 3, 2),
                (2, 3, 4, 4, 3, 2, 5),
                (3, 2, 2, 5, 4, 4, 3),
                (2, 4, 3, 2, 2, 5, 2),
            ]
        ):
            given = (
                scale * draw.normal(batch, heads, queries, width),
                draw.normal(batch, keys, rank),
                draw.normal(heads, rank, width),
                draw.normal(heads, rank, out),
            )
            masks = (draw.mask(batch, 1, queries, keys), draw.mask(queries, keys))
            for args in (given, (*given, masks[place % 2])):
                yield Case("latent_attention", args, length=16 * rank, amplify=8.0 * scale)

    def nothing(draw: Draw):
        for batch, heads, queries, keys in [(1, 1, 1, 1), (2, 2, 3, 4)]:
            given = (draw.normal(batch, heads, queries, 2), draw.normal(batch, keys, 3))
            weights = (draw.normal(heads, 3, 2), draw.normal(heads, 3, 2))
            mask = draw.mask(batch, 1, queries, keys, empty_row=True)
            yield Case("latent_attention", (*given, *weights, mask), length=48, amplify=8.0)

    def long(draw: Draw):
        given = (draw.normal(1, 2, 2, 2), draw.normal(1, 530, 2), draw.normal(2, 2, 2), draw.normal(2, 2, 2))
        yield Case("latent_attention", given, length=530, amplify=16.0)

    def one_more_token(draw: Draw):
        weights = (draw.normal(4, 32, 32), draw.normal(4, 32, 32))
        return Case("latent_attention", (draw.normal(1, 4, 1, 32), draw.normal(1, 64, 32), *weights))

    message = (
        "For one query you unpack the keys or the values of all tokens."
        " A query that goes into the space of `c` gives the same result without."
    )
    checks = [*function(cases, long=long), edges(nothing, NOTHING), extremes(partial(cases, scale=1e3))]
    return [*checks, work(one_more_token, message)]
