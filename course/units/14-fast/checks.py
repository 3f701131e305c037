"""The checks of unit 14: random inputs, and the properties that a solution must have for each of them."""

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from autograder.checks import (
    ATTENTION,
    Case,
    Check,
    Draw,
    Probe,
    built,
    contiguity,
    edges,
    extremes,
    function,
    peak,
    precision,
    purity,
    values,
)

NONE = float("-inf")
SHAPES = [  # what stands before, queries, keys, width, width of values, block, causal
    ((), 1, 1, 1, 1, 1, False),
    ((2,), 1, 3, 2, 3, 2, True),
    ((1, 2), 4, 4, 3, 3, 2, True),
    ((2, 1), 3, 5, 4, 2, 2, False),  # the last block has one key
    ((2, 3), 3, 7, 2, 4, 3, True),  # more keys than queries
    ((3,), 5, 5, 2, 2, 1, True),  # blocks of one key
    ((2, 2), 4, 6, 3, 2, 9, True),  # a block above K
    ((), 3, 4, 5, 1, 4, False),
]


def merge() -> list[Check]:
    """fast.merge"""

    def cases(draw: Draw, scale: float = 2.0):
        for shape, width in [((), 1), ((3,), 2), ((2, 3), 4), ((1, 2, 4), 3), ((2, 2, 2, 2), 2)]:
            lse = [scale * draw.normal(*shape) for _ in range(2)]
            yield _parts(draw, lse, width, scale)

    def without(draw: Draw):
        for first in (True, False):
            lse = [2 * draw.normal(2, 4) for _ in range(2)]
            lse[first][:, 1:3] = NONE
            yield _parts(draw, lse, 3, 2.0)
            yield _parts(draw, [2 * draw.normal(3), torch.full((3,), NONE)][:: 1 if first else -1], 2, 2.0)

    def nothing(draw: Draw):
        lse = [2 * draw.normal(3, 3) for _ in range(2)]
        lse[0][:, 1:], lse[1][:, ::2] = NONE, NONE
        yield _parts(draw, lse, 2, 2.0)
        yield _parts(draw, [torch.full((), NONE), torch.full((), NONE)], 2, 2.0)

    both = replace(values(nothing, "both parts without keys", 2.0, core=False), property="edges")
    some = values(without, "a part without keys")
    return [*function(cases), some, extremes(partial(cases, scale=1e4)), both]


def _parts(draw: Draw, lse: list[Tensor], width: int, scale: float) -> Case:
    """Two parts; one without keys has an output of zeros."""
    out = [draw.normal(*one.shape, width).masked_fill((one == NONE).unsqueeze(-1), 0.0) for one in lse]
    return Case("merge_attention", (out[0], lse[0], out[1], lse[1]), amplify=2.0 * scale)


def flash_attention() -> list[Check]:
    """fast.flash_attention: output and lse, and that no table of all scores is made"""

    def cases(draw: Draw, scale: float = 1.0):
        for shape, queries, keys, width, out, block, causal in SHAPES:
            given = _drawn(draw, shape, queries, keys, width, out, scale)
            rest = (block, True) if causal else (block,)
            yield Case("flash_attention", (*given, *rest), length=keys + width, amplify=8.0 * scale)

    def rising(draw: Draw):  # each block has larger scores than those before it, or smaller ones
        for turn in (1, -1):
            q, k, v = _drawn(draw, (2,), 3, 8, 2, 2, 1.0)
            k = (q.mean(1, keepdim=True) + 0.1 * k) * torch.linspace(-9, 9, 8)[:, None] * turn
            yield Case("flash_attention", (q, k, v, 2), length=8, amplify=30.0)

    def long(draw: Draw):
        yield Case("flash_attention", (*_drawn(draw, (1,), 2, 530, 2, 2, 1.0), 64, True), length=530, amplify=16.0)

    def small(draw: Draw) -> tuple[Case, int]:
        return Case("flash_attention", (*_drawn(draw, (), 64, 128, 1, 1, 1.0), 4, True)), 64 * 4

    def longest(draw: Draw, length: int) -> Case:
        given = _drawn(draw, (), 2048, length, 4, 4, 1.0)
        return Case("flash_attention", (*given, length // 32), length=length, amplify=16.0)

    message = "your attention holds more than Q * block scores at once: it must not make the whole table of scores"
    own = [
        values(rising, "scores that rise, or fall, from block to block", 2.0, core=False),
        extremes(partial(cases, scale=60.0)),
        peak(small, longest, message, measure_at=16_384),
        built(cases, ATTENTION),
    ]
    return [*function(cases, long=long), *own]


def _drawn(draw: Draw, shape: tuple, queries: int, keys: int, width: int, out: int, scale: float) -> tuple:
    """Queries, keys and values."""
    q, k = scale * draw.normal(*shape, queries, width), scale * draw.normal(*shape, keys, width)
    return q, k, draw.normal(*shape, keys, out)


def flash_backward() -> list[Check]:
    """fast.flash_backward: the gradients, in inference mode too, and that no table of all scores is made"""

    def cases(draw: Draw, scale: float = 1.0, double: bool = False):
        for shape, queries, keys, width, out, block, causal in SHAPES:
            given = _drawn(draw, shape, queries, keys, width, out, scale)
            yield _backward(draw, given, block, causal, 8.0 * scale, double)

    def long(draw: Draw):
        yield _backward(draw, _drawn(draw, (1,), 2, 530, 2, 2, 1.0), 64, True, 16.0)

    def small(draw: Draw) -> tuple[Case, int]:
        return _backward(draw, _drawn(draw, (), 64, 128, 1, 1, 1.0), 4, True, 16.0), 64 * 4

    def longest(draw: Draw, length: int) -> Case:
        return _backward(draw, _drawn(draw, (), 2048, length, 4, 4, 1.0), length // 32, False, 16.0)

    def enormous(draw: Draw):
        return cases(draw, 60.0)

    message = "your gradients hold more than Q * block scores at once: compute the weights again, block by block"
    return [
        values(lambda draw: [*cases(draw), *long(draw)]),
        purity(cases),
        precision(partial(cases, double=True), torch.float64),
        precision(cases, torch.bfloat16),
        contiguity(cases),
        _without_autograd(cases),
        values(enormous, "very large scores", 1.0, core=False),
        peak(small, longest, message, measure_at=16_384),
    ]


def _backward(draw: Draw, given: tuple, block: int, causal: bool, amplify: float, double: bool = False) -> Case:
    """The case, with what the way forward gives."""
    wide = tuple(part.double() for part in given)
    floats = [*wide, *_attended(*wide, causal)]
    floats.append(draw.normal(*floats[3].shape).double())
    args = (*(part if double else part.float() for part in floats), block, *([True] if causal else []))
    return Case("flash_backward", args, length=sum(given[1].shape[-2:]), amplify=amplify, scale=_largest(*given))


def _attended(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> tuple[Tensor, Tensor]:
    """Output and log-sum-exp, for some queries at a time."""
    outs, sums, places = [], [], torch.arange(k.size(-2))
    for rows, last in zip(q.split(32, -2), places[-q.size(-2) :].split(32), strict=True):
        scores = rows @ k.transpose(-2, -1) * q.size(-1) ** -0.5
        if causal:
            scores = scores.masked_fill(places > last[:, None], NONE)
        outs.append(scores.softmax(-1) @ v)
        sums.append(scores.logsumexp(-1))
    return torch.cat(outs, -2), torch.cat(sums, -1)


def _largest(*given: Tensor) -> float:
    return max(part.abs().max().item() for part in given)


MODE = """
import torch

modes = []


def _given_mode(on):
    if on:
        modes.append(torch.inference_mode())
        modes[-1].__enter__()
    else:
        modes.pop().__exit__(None, None, None)
"""


def _without_autograd(cases) -> Check:
    """That autograd has no part in it."""

    def ask(case: Case, subject):
        subject.bind(MODE, ["_given_mode"])
        subject.call("_given_mode", True)
        try:
            return case.value(subject)
        finally:
            subject.call("_given_mode", False)

    probes = lambda draw, _: [Probe(partial(ask, case), case, case.tolerance) for case in list(cases(draw))[:4]]
    return Check("in inference mode", probes, 2.0)


def chunked_loss() -> list[Check]:
    """fast.chunked_loss: value and gradients, and that there are never more than `chunk` rows of logits"""

    def cases(draw: Draw, scale: float = 2.0):
        for place, (tokens, width, vocab, chunk) in enumerate(
            [(1, 1, 2, 1), (3, 2, 4, 1), (4, 3, 3, 2), (5, 2, 6, 2), (7, 4, 5, 3), (4, 2, 3, 9), (6, 3, 4, 6)]
        ):
            targets = draw.integers(0, vocab, tokens)
            if place > 1:
                targets[draw.integer(0, tokens)] = -100
            if place in (3, 4):
                targets[:chunk] = -100  # a chunk with nothing to predict
            yield _loss(draw, (tokens, width, vocab, chunk), targets, scale)

    def nothing(draw: Draw):
        yield _loss(draw, (3, 2, 4, 2), torch.full((3,), -100), 1.0)
        yield _loss(draw, (1, 2, 3, 1), torch.full((1,), -100), 1.0)

    def many(draw: Draw):
        # each loss is near ln 5 and below 2, which a sum of 512 in bfloat16 ignores
        case = _loss(draw, (1500, 2, 5, 1), draw.integers(0, 5, 1500), 0.3)
        yield replace(case.to(lambda t: t.bfloat16()), length=4, amplify=2.0)

    def long(draw: Draw):
        targets = draw.integers(0, 7, 530)
        targets[::3] = -100
        yield _loss(draw, (530, 3, 7, 64), targets, 1.0)

    def small(draw: Draw) -> tuple[Case, int]:
        return _loss(draw, (32, 1, 64, 2), draw.integers(0, 64, 32), 1.0), 2 * 64

    def longest(draw: Draw, length: int) -> Case:
        return _loss(draw, (length, 2, 2048, length // 32), draw.integers(0, 2048, length), 1.0)

    message = "your loss holds more than `chunk` rows of logits at once: compute it chunk by chunk"
    own = [
        edges(nothing, "nothing to predict"),
        extremes(partial(cases, scale=60.0)),
        values(many, "bfloat16 over many rows", 1.0, core=False),
        peak(small, longest, message, measure_at=16_384),
    ]
    return [*function(cases, long=long), *own]


def _loss(draw: Draw, sizes: tuple[int, int, int, int], targets: Tensor, scale: float) -> Case:
    tokens, width, vocab, chunk = sizes
    h, w = scale * draw.normal(tokens, width), scale * draw.normal(vocab, width)
    largest = (h @ w.T).abs().max().item()
    return Case("chunked_cross_entropy", (h, w, targets, chunk), length=width + vocab, scale=largest)


def paged_attention() -> list[Check]:
    """fast.paged_attention"""

    def cases(draw: Draw, scale: float = 1.0):
        for heads, width, size, lengths, spare in [
            (1, 1, 1, [1], 0),
            (1, 2, 2, [3], 0),  # half of the last page
            (2, 3, 4, [5, 8], 1),
            (3, 2, 3, [1, 7, 4], 2),
            (2, 4, 1, [3, 1, 2], 1),  # pages of one row
            (4, 2, 5, [2, 12], 3),
            (2, 2, 2, [6, 4, 1, 5], 1),
        ]:
            yield _paged(draw, heads, width, size, lengths, spare, scale)

    def nothing(draw: Draw):
        yield _paged(draw, 2, 3, 2, [3, 0, 4], 1, 1.0)
        yield _paged(draw, 1, 2, 3, [0], 1, 1.0)

    def long(draw: Draw):
        yield _paged(draw, 2, 2, 16, [530, 17], 1, 1.0)

    return [
        *function(cases, long=long),
        edges(nothing, "a text of no tokens"),
        extremes(partial(cases, scale=60.0)),
        built(cases, ATTENTION),
    ]


def _paged(draw: Draw, heads: int, width: int, size: int, lengths: list[int], spare: int, scale: float) -> Case:
    """Texts whose pages lie anywhere; two that are alike at first may share a page. The rest is large, and is noise."""
    needed = [-(-length // size) for length in lengths]
    pages = sum(needed) + 2
    order = torch.randperm(pages - 1, generator=draw.generator) + 1  # page 0 belongs to nobody
    columns = max(max(needed) + (spare > 1), 1)
    tables = torch.where(draw.integers(0, 2, len(lengths), columns).bool(), -1, draw.integer(0, pages))
    keys, values_ = scale * draw.normal(pages, size, heads, width), draw.normal(pages, size, heads, width)
    unused, at = torch.ones(pages, size, dtype=torch.bool), 0
    for row, (length, count) in enumerate(zip(lengths, needed, strict=True)):
        own = order[at : at + count]
        if row == 1 and spare and lengths[0] >= size and count:
            own = torch.cat([tables[0, :1], own[1:]])  # the first page of the text above, too
        tables[row, :count], at = own, at + count
        for place in range(length):
            unused[own[place // size], place % size] = False
    noise = 50.0 * draw.normal(pages, size, heads, width)
    keys, values_ = (torch.where(unused[..., None, None], part + noise, part) for part in (keys, values_))
    q = scale * draw.normal(len(lengths), heads, width)
    args = (q, keys, values_, tables, torch.tensor(lengths))
    return Case("paged_attention", args, length=max(lengths) + width, amplify=8.0 * scale)


def quantize() -> list[Check]:
    """fast.quantize: both ways"""

    def there(draw: Draw):
        for (rows, columns), bits in [((1, 1), 8), ((1, 3), 2), ((3, 4), 8), ((4, 2), 4), ((2, 6), 3), ((5, 5), 7)]:
            weights = _between_halves(draw, rows, columns, bits)
            if rows > 2:
                weights[1] = 0.0  # nothing to scale
            yield Case("quantize_rows", (weights,) if bits == 8 else (weights, bits))

    def back(draw: Draw):
        for rows, columns in [(1, 1), (2, 3), (4, 4), (3, 5)]:
            q = draw.integers(-127, 128, rows, columns).to(torch.int8)
            q.view(-1)[0] = -127
            yield Case("dequantize_rows", (q, 0.1 + draw.normal(rows).abs()))

    def long(draw: Draw):
        yield Case("quantize_rows", (_between_halves(draw, 2, 520, 8),))

    first = [values(lambda draw: [*there(draw), *long(draw)], "quantize_rows: right values"), purity(there)]
    exact = replace(precision(there, torch.float64), name="quantize_rows: float64 in, float64 out")
    second = [replace(check, name=f"dequantize_rows: {check.name}", shapes=0.0) for check in function(back)]
    return [*first, exact, _coarse(there), contiguity(there), *second]


def _between_halves(draw: Draw, rows: int, columns: int, bits: int) -> Tensor:
    """Rows of different sizes, in which nothing lies near a half; in every second one the largest is positive."""
    most = 2 ** (bits - 1) - 1
    off = 0.9 * torch.rand(rows, columns, generator=draw.generator) - 0.45
    steps = (draw.integers(-most, most + 1, rows, columns) + off).clamp(-most, most)
    for row in range(rows):
        steps[row, draw.integer(0, columns)] = most if row % 2 else -most
    sizes = 10.0 ** draw.integers(-2, 2, rows, 1) * (1 + torch.rand(rows, 1, generator=draw.generator))
    return steps / most * sizes


def _coarse(cases) -> Check:
    """In bfloat16: the scale in bfloat16, and integers that are off by one at most."""

    def ask(case: Case, wanted: Tensor, subject) -> dict:
        q, scale = case.value(subject)
        if not isinstance(q, Tensor) or q.shape != wanted.shape:
            return {"integers": q, "scale": scale}
        near = bool(((q.long() - wanted.long()).abs() <= 1).all())
        return {"integers": (q.dtype == torch.int8) and near, "scale": scale}

    def probes(draw: Draw, reference) -> list[Probe]:
        found = []
        rounded_up = torch.tensor([[1.34375, 0.3], [-0.1, -2.6875]])  # the largest is 127.5 scales, in bfloat16
        drawn = [*cases(draw), Case("quantize_rows", (rounded_up,))]
        for case in (one.to(lambda t: t.bfloat16()) for one in drawn):
            wanted = case.value(reference)[0]
            found.append(Probe(partial(ask, case, wanted), case, case.tolerance))
        return found

    explain = lambda expected, actual: "the integers are off by more than one, or the scale is not in bfloat16"
    return Check("quantize_rows: bfloat16 in, bfloat16 out", probes, explain=explain, property="dtypes")
