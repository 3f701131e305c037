"""The checks of unit 09: random inputs, and the properties that a solution must have for each of them."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.checks import Case, Check, Draw, edges, extremes, flow, function


def causal_lm() -> list[Check]:
    """objectives.causal_lm"""

    def cases(draw: Draw, scale: float = 2.0):
        for batch, length, vocab, pad in [(1, 2, 3, 0), (1, 4, 5, 4), (3, 6, 7, 6), (4, 5, 6, 1)]:
            ids = _words(draw, batch, length, vocab, pad)
            ids = ids if batch == 1 else ids.masked_fill(~draw.padding_mask(batch, length), pad)
            yield _scored(scale, draw, ids, vocab, pad)
        # padding in front and in between: the word that is predicted counts, wherever it is predicted from
        yield _scored(scale, draw, torch.tensor([[0, 0, 3, 1, 2], [2, 0, 1, 3, 0]]), 4, 0)
        yield _scored(scale, draw, torch.tensor([[1, 1, 2, 1, 1, 1]]), 4, 0)  # a word may follow itself

    def nothing(draw: Draw):
        for ids in (torch.tensor([[2]]), torch.full((2, 3), 1), torch.tensor([[2, 1], [3, 1]])):
            yield _scored(2.0, draw, ids, 4, 1)

    own = edges(nothing, "nothing to predict"), extremes(lambda draw: cases(draw, 2e3))
    return [*function(cases), *own]


def _words(draw: Draw, batch: int, length: int, vocab: int, pad: int) -> Tensor:
    """Rows in which no word follows itself, none of them pad."""
    words = torch.stack([torch.randperm(vocab, generator=draw.generator) for _ in range(batch)])
    return words[words != pad].view(batch, vocab - 1).repeat(1, length)[:, :length]


def _scored(scale: float, draw: Draw, ids: Tensor, vocab: int, pad: int) -> Case:
    """A sure and right model has a loss near 0: the difference of a score and a log-sum that are both large."""
    logits = scale * draw.normal(*ids.shape, vocab)
    return Case("causal_lm_loss", (logits, ids, pad), length=vocab, scale=logits.abs().max().item())


def memory_attention() -> list[Check]:
    """xl.memory_attention"""
    sizes = [  # batch, length, memory, heads, width of each
        (1, 1, 0, 1, 2),
        (1, 1, 1, 1, 2),
        (1, 2, 1, 2, 2),
        (2, 3, 0, 2, 2),  # the first segment: nothing to remember
        (2, 2, 4, 2, 3),
        (3, 4, 3, 3, 2),
    ]

    def cases(draw: Draw, sizes=sizes, scale: float = 1.0):
        for batch, length, memory, heads, width in sizes:
            wide = heads * width
            x, past = draw.normal(batch, length, wide), draw.normal(batch, memory, wide)
            w_q, w_k, w_v = (draw.normal(wide, wide) / wide**0.5 for _ in range(3))
            args = (x, past, scale * w_q, scale * w_k, w_v, heads)
            yield Case("memory_attention", args, length=4 * wide, amplify=4.0 * scale**2)

    def large(draw: Draw):
        yield from cases(draw, scale=60.0)
        # many queries that see one key: a masked score of -50 exceeds some of their scores in every draw
        yield from cases(draw, sizes=[(16, 3, 0, 2, 2)], scale=12.0)

    small = partial(cases, sizes=[(2, 3, 2, 2, 2)])
    return [
        *function(cases, long=partial(cases, sizes=[(1, 70, 460, 1, 2)])),
        flow(small, 0, "who sees which new word"),
        flow(small, 1, "who sees what is remembered"),
        extremes(large),
    ]


def relative_scores() -> list[Check]:
    """xl.relative_scores: what lies in a query's future is not compared, and gets no gradient"""

    def cases(draw: Draw, scale: float = 1.0):
        for batch, heads, queries, keys, width in [
            (1, 1, 1, 1, 2),
            (1, 1, 2, 2, 1),
            (1, 2, 1, 3, 2),
            (2, 1, 3, 3, 4),
            (1, 1, 2, 5, 2),
            (2, 3, 4, 7, 3),
        ]:
            shapes = [(batch, heads, queries, width), (batch, heads, keys, width), (heads, keys, width)]
            args = [scale * draw.normal(*shape) for shape in [*shapes, (heads, width), (heads, width)]]
            largest = max(arg.abs().max().item() for arg in args) ** 2 * 4
            yield Case(
                "relative_scores", tuple(args), length=width, scale=largest, select=partial(_past, q=queries, k=keys)
            )

    def long(draw: Draw):
        shapes = [(1, 1, 70, 2), (1, 1, 140, 2), (1, 140, 2), (1, 2), (1, 2)]
        args = tuple(draw.normal(*shape) for shape in shapes)
        yield Case("relative_scores", args, length=2, scale=64.0, select=partial(_past, q=70, k=140))

    return [*function(cases, long=long), extremes(partial(cases, scale=50.0))]


def _past(out: Any, q: int, k: int) -> Any:
    """What is beyond the diagonal is not graded: it becomes -inf, which gets no gradient either."""
    if not isinstance(out, Tensor) or out.shape[-2:] != (q, k) or not out.is_floating_point():
        return out
    return out.masked_fill(torch.ones(q, k, dtype=torch.bool, device=out.device).triu(k - q + 1), -torch.inf)


def segment() -> list[Check]:
    """xl.segment"""
    sizes = [  # batch, length, memory, heads, width of each, memory to keep
        (1, 1, 0, 1, 2, 1),
        (1, 1, 2, 1, 2, 2),
        (1, 3, 0, 2, 2, 2),  # the first segment: nothing to remember
        (2, 2, 3, 2, 3, 4),  # part of the old memory stays
        (2, 4, 2, 1, 4, 2),  # none of it does
        (2, 2, 1, 2, 2, 5),  # there are fewer states than may be kept
        (3, 3, 2, 3, 2, 0),  # nothing is kept
    ]

    def cases(draw: Draw, sizes=sizes, scale: float = 1.0):
        for batch, length, memory, heads, width, kept in sizes:
            wide, keys = heads * width, memory + length
            x, past, places = (
                draw.normal(batch, length, wide),
                draw.normal(batch, memory, wide),
                draw.normal(keys, wide),
            )
            w_q, w_k, w_v, w_r = (draw.normal(wide, wide) / wide**0.5 for _ in range(4))
            biases = [scale * draw.normal(heads, width) for _ in range(2)]
            args = (x, past, places, scale * w_q, scale * w_k, w_v, scale * w_r, *biases, kept)
            yield Case("segment_attention", args, length=8 * wide, amplify=8.0 * scale**2)

    small = partial(cases, sizes=[(2, 3, 2, 2, 2, 4)])
    return [
        *function(cases, long=partial(cases, sizes=[(1, 70, 140, 1, 2, 90)])),
        flow(small, 0, "who sees which new word"),
        flow(small, 1, "who sees what is remembered"),
        extremes(partial(cases, scale=30.0)),
    ]


def permutation_masks() -> list[Check]:
    """xlnet.permutation_masks"""

    def cases(draw: Draw):
        fixed = [[0], [1, 0], [1, 2, 0], [2, 0, 1, 3], [0, 1, 2, 3]]  # cycles: such an order is not its own inverse
        drawn = [torch.randperm(draw.integer(5, 12), generator=draw.generator).tolist() for _ in range(3)]
        for order in [*fixed, *drawn]:
            yield Case("permutation_masks", (torch.tensor(order),))

    def long(draw: Draw):
        yield Case("permutation_masks", (torch.randperm(draw.integer(515, 530), generator=draw.generator),))

    return function(cases, floats=False, long=long)


def two_streams() -> list[Check]:
    """xlnet.two_streams: under masks of an order, whose first query sees nothing, and under any others"""
    sizes = [(1, 1, 1, 2), (1, 2, 1, 2), (1, 2, 2, 2), (2, 3, 2, 3), (3, 4, 3, 2), (2, 5, 2, 2)]  # B, L, H, D

    def cases(draw: Draw, sizes=sizes, scale: float = 1.0, empty: bool = False):
        for batch, length, heads, width in sizes:
            wide = heads * width
            h, g = draw.normal(batch, length, wide), draw.normal(batch, length, wide)
            w_q, w_k, w_v = (draw.normal(wide, wide) / wide**0.5 for _ in range(3))
            masks = _of_an_order(draw, length) if empty else _two_masks(draw, length)
            args = (h, g, scale * w_q, scale * w_k, w_v, *masks, heads)
            yield Case("two_stream_attention", args, length=4 * wide, amplify=4.0 * scale**2)

    def alike(draw: Draw):  # one mask for both: then nothing but the queries tells the streams apart
        *states, _, mask, heads = next(iter(cases(draw, sizes=[(2, 4, 2, 2)]))).args
        yield Case("two_stream_attention", (*states, mask, mask, heads), length=16, amplify=4.0)

    def both(draw: Draw):
        return [*cases(draw), *alike(draw)]

    ordered = partial(cases, sizes=[(1, 1, 1, 2), (1, 2, 2, 2), (2, 4, 2, 3)], empty=True)
    return [
        *function(both, long=partial(cases, sizes=[(1, 515, 1, 2)])),
        edges(ordered, "a row that may see nothing"),
        extremes(partial(cases, scale=60.0)),
    ]


def _two_masks(draw: Draw, length: int) -> tuple[Tensor, Tensor]:
    """Masks in which each row sees something; those of an order, but that its first query sees itself, or any."""
    if draw.integer(0, 2) and length > 1:
        content, query = _of_an_order(draw, length)
        return content, query | (torch.eye(length, dtype=torch.bool) & ~query.any(-1, keepdim=True))
    return draw.mask(length, length), draw.mask(length, length)


def _of_an_order(draw: Draw, length: int) -> tuple[Tensor, Tensor]:
    """The masks of an order: who is predicted first sees nothing."""
    step = torch.randperm(length, generator=draw.generator)
    return step[:, None] >= step, step[:, None] > step
