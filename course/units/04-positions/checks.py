"""The checks of unit 04: random inputs, and the properties that a solution must have for each of them."""

from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.checks import (
    Case,
    Check,
    Draw,
    contiguity,
    function,
    gradients,
    precision,
    purity,
    values,
)

SINGLE = torch.finfo(torch.float32).eps


def sinusoidal() -> list[Check]:
    """positions.sinusoidal"""

    def cases(draw: Draw):
        for length, dim in [(1, 2), (3, 2), (4, 4), (1, 8), (60, 16), (draw.integer(5, 20), 2 * draw.integer(3, 7))]:
            yield Case("sinusoidal_positions", (length, dim), length=_terms(length))

    def long(draw: Draw):
        length = draw.integer(5001, 5100)  # published code has tables of 512, of 1024, of 5000
        yield Case("sinusoidal_positions", (length, 4), length=_terms(length))

    return function(cases, floats=False, long=long)


def rotary() -> list[Check]:
    """positions.rotary: also far from the start, where an angle in half precision has no digits left"""

    def cases(draw: Draw, farthest: int = 40):
        for shape, base in [
            ((1, 2), None),
            ((2, 4), None),
            ((3, 6), 100.0),
            ((2, 1, 4), None),
            ((1, 2, 5, 8), 500.0),
            ((3, 2, 4, 10), None),
        ]:
            positions = draw.integers(0, farthest, shape[-2])
            positions[0] = farthest  # whatever is drawn, something turns
            rest = () if base is None else (base,)
            args = (draw.normal(*shape), positions, *rest)
            yield Case("apply_rotary", args, length=_terms(farthest), eps=SINGLE)

    def coarse(draw: Draw):
        return [replace(case, length=4) for case in cases(draw, 3000)]

    return [
        values(cases),
        values(partial(cases, farthest=2000), "far from the start", 1.0, core=False),
        purity(cases),
        precision(cases, torch.float64),
        precision(coarse, torch.bfloat16),
        gradients(cases),
        contiguity(cases),
    ]


def t5_buckets() -> list[Check]:
    """positions.t5_buckets: settings in which no distance lies so near a border that the order of operations decides"""

    def cases(draw: Draw):
        for place, (buckets, farthest) in enumerate([(32, 128), (8, 20), (16, 50), (4, 10), (64, 256), (32, 100)]):
            query, key = torch.arange(draw.integer(3, 7)), torch.arange(draw.integer(3, 7))
            table = key[None, :] - query[:, None]
            line = torch.arange(-2 * farthest, 2 * farthest + 1)
            wide = draw.integers(-3 * farthest, 3 * farthest, 2, 1, 5)
            for both in (True, False):
                for distances in (table, line, wide) if place < 2 else (line,):
                    yield Case("relative_bucket", (distances, both, buckets, farthest))
        for one in (0, 1, -1, -40):
            yield Case("relative_bucket", (torch.tensor([one]), bool(one % 2), 32, 128))

    return function(cases, floats=False)


def relative_shift() -> list[Check]:
    """positions.relative_shift: only what stays in the causal part is compared, and gets a gradient"""

    def cases(draw: Draw):
        for batch, heads, q, r in [(1, 1, 1, 1), (1, 1, 2, 2), (1, 2, 1, 4), (2, 1, 3, 3), (1, 1, 2, 5), (2, 3, 4, 7)]:
            scores = draw.normal(batch, heads, q, r)
            yield Case("relative_shift", (scores,), select=partial(_causal, q=q, r=r))

    def long(draw: Draw):
        yield Case("relative_shift", (draw.normal(1, 1, 70, 140),), select=partial(_causal, q=70, r=140))

    return function(cases, long=long)


def axial() -> list[Check]:
    """positions.axial"""

    def cases(draw: Draw):
        for (l1, d1), (l2, d2) in [
            ((1, 1), (1, 1)),
            ((2, 1), (3, 1)),
            ((3, 2), (1, 3)),
            ((1, 2), (4, 2)),
            ((3, 2), (3, 2)),
            ((draw.integer(4, 6), 3), (draw.integer(2, 4), 4)),
        ]:
            yield Case("axial_positions", (draw.normal(l1, d1), draw.normal(l2, d2)))

    return function(cases)


def _terms(farthest: int) -> int:
    """How much an angle's rounding error counts: it grows with the position, and float32 is precise enough here."""
    return (4 + 4 * farthest) ** 2


def _causal(out: Any, q: int, r: int) -> Any:
    """What is beyond the diagonal is not graded: it becomes -inf, which gets no gradient either."""
    if not isinstance(out, Tensor) or out.shape[-2:] != (q, r) or not out.is_floating_point():
        return out
    return out.masked_fill(torch.ones(q, r, dtype=torch.bool, device=out.device).triu(r - q + 1), -torch.inf)
