"""The checks of unit 11: random inputs, and the properties that a solution must have for each of them."""

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from autograder.checks import (
    Case,
    Check,
    Draw,
    Part,
    Probe,
    contiguity,
    cost,
    edges,
    extremes,
    flow,
    function,
    module,
    precision,
)


def local_global() -> list[Check]:
    """sparse.local_global"""

    def cases(draw: Draw):
        far = draw.integer(4, 9)
        for length, window, chosen in [
            (1, 1, []),
            (1, 0, [0]),
            (3, 0, []),  # each sees itself
            (4, 2, []),
            (5, 2, [0]),
            (6, 3, [5]),  # an odd window has no more than the even one below it
            (6, 4, [2, 3]),
            (7, 0, [3]),
            (5, 20, []),  # wider than the text
            (9, 4, [7, 0]),  # in any order
            (9, 1, [far, 1, far]),  # and one of them twice
            (4, 2, [0, 1, 2, 3]),
        ]:
            yield Case("local_global_mask", (length, window, [at for at in chosen if at < length]))

    def long(draw: Draw):
        yield Case("local_global_mask", (draw.integer(515, 530), 6, [513, 2]))

    return function(cases, floats=False, long=long)


def sliding_window() -> list[Check]:
    """sparse.sliding_window: the values, and that nothing grows as the square of the length"""

    def cases(draw: Draw, scale: float = 1.0):
        for batch, length, width, out, window in [
            (1, 1, 2, 2, 2),
            (1, 3, 2, 1, 2),
            (1, 4, 2, 2, 0),  # each sees itself
            (1, 5, 3, 2, 3),  # an odd window has no more than the even one below it
            (2, 4, 4, 3, 20),  # wider than the text
            (2, 7, 4, 3, 4),
            (3, 9, 6, 4, 6),
        ]:
            given = [scale * draw.normal(batch, length, width) for _ in range(2)]
            case = Case("sliding_window_attention", (*given, draw.normal(batch, length, out), window))
            yield replace(case, length=width + length, amplify=max(1.0, 4.0 * scale**2))

    def small(draw: Draw):
        yield Case("sliding_window_attention", (*(draw.normal(2, 6, 3) for _ in range(3)), 2))

    def long(draw: Draw, length: int) -> Case:
        return Case("sliding_window_attention", (*(draw.normal(1, length, 4) for _ in range(3)), 4), amplify=8.0)

    seen = [flow(small, place, f"whose {name} count") for place, name in enumerate(("queries", "keys", "values"))]
    message = "your sliding window still makes a table of all pairs: twice the text costs four times as much"
    cost_check = cost(long, message, count_at=512, measure_at=6144, weight=6.0)  # it is what the exercise is about

    def far(draw: Draw):
        given = tuple(draw.normal(1, 521, 2) for _ in range(3))
        yield Case("sliding_window_attention", (*given, 4), length=32, amplify=4.0)

    return [*function(cases, long=far), extremes(lambda draw: cases(draw, 50.0)), *seen, cost_check]


def bigbird() -> list[Check]:
    """sparse.bigbird"""

    def cases(draw: Draw):
        for blocks, block, window, ends, drawn in [
            (1, 1, 1, 0, 0),
            (1, 3, 3, 1, 1),
            (4, 1, 1, 0, 0),
            (4, 2, 1, 0, 1),
            (4, 2, 3, 0, 0),
            (5, 2, 1, 1, 0),
            (5, 3, 2, 0, 0),  # an even window has no more than the odd one above it
            (6, 2, 1, 2, 0),
            (6, 2, 3, 1, 1),
            (7, 3, 3, 0, 2),
            (7, 2, 3, 2, 3),
            (7, 1, 5, 0, 1),
            (3, 2, 1, 3, 0),  # all are global
        ]:
            picks = draw.integers(0, blocks, blocks, drawn)  # the same twice, and near ones, too
            if drawn and blocks > 3:  # the last one looks far with its last draw only, and is not looked at
                picks[1], picks[-1], picks[-1, -1] = 1, blocks - 1, 1
            yield Case("bigbird_mask", (blocks * block, block, window, ends, picks))

    def long(draw: Draw):
        yield Case("bigbird_mask", (520, 8, 3, 1, draw.integers(0, 65, 65, 2)))

    return function(cases, floats=False, long=long)


def lsh_buckets() -> list[Check]:
    """sparse.lsh_buckets"""

    def cases(draw: Draw):
        for batch, length, width, half in [(1, 1, 2, 1), (1, 3, 2, 2), (1, 6, 3, 1), (2, 8, 4, 3), (3, 5, 6, 4)]:
            yield Case("lsh_buckets", _clear_directions(draw, batch, length, width, half))

    exact = [precision(cases, torch.float64), precision(cases, torch.bfloat16)]
    return [*function(cases, floats=False), *exact, contiguity(cases)]


def _clear_directions(draw: Draw, batch: int, length: int, width: int, half: int) -> tuple[Tensor, Tensor]:
    """Vectors, none halfway between two directions (bfloat16 could not tell), and not all on one side."""
    rotations = draw.normal(width, half).bfloat16().float()
    found: list[Tensor] = []
    while len(found) < batch * length:
        vector = (3 * draw.normal(width)).bfloat16().float()
        best = torch.cat([vector @ rotations, -(vector @ rotations)]).sort(descending=True)
        wanted = len(found) % 2  # every second one is nearest to a direction turned round
        if best.values[0] - best.values[1] > 0.2 and (best.indices[0] >= half) == bool(wanted):
            found.append(vector)
    return torch.stack(found).view(batch, length, width), rotations


def lsh_attention() -> list[Check]:
    """sparse.lsh_attention"""

    def cases(draw: Draw, scale: float = 2.0):
        for batch, length, width, buckets in [(1, 1, 2, 1), (1, 3, 3, 1), (1, 4, 2, 2), (2, 6, 4, 2), (3, 9, 8, 3)]:
            given = (scale * draw.normal(batch, length, width), draw.normal(batch, length, width))
            yield Case("lsh_attention", (*given, _buckets(draw, batch, length, buckets)), amplify=4.0 * scale)

    def enormous(draw: Draw):
        return cases(draw, 1e3)

    def small(draw: Draw):
        given = (2 * draw.normal(2, 5, 3), draw.normal(2, 5, 3), torch.tensor([[0, 1, 0, 1, 0], [2, 2, 3, 2, 3]]))
        yield Case("lsh_attention", given)

    def long(draw: Draw):
        given = (2.0 * draw.normal(1, 520, 2), draw.normal(1, 520, 2), _buckets(draw, 1, 520, 40))
        yield Case("lsh_attention", given, length=64, amplify=8.0)

    seen = [flow(small, 0, "whose vectors count"), flow(small, 1, "whose values arrive")]
    return [*function(cases, long=long), extremes(enormous), *seen]


def _buckets(draw: Draw, batch: int, length: int, many: int) -> Tensor:
    """Buckets of any size; in each row the last position stands alone, and some bucket comes again after a gap."""
    found = draw.integers(0, many, batch, length)
    if length > 3:
        found[:, 1:3] = torch.stack([found[:, 0] + 1, found[:, 0]], 1) % many
        found[:, -1] = many + 3
    return found


LAYER = """
from torch import nn


def _given_layer(width, inner):
    return nn.Sequential(nn.Linear(width, inner), nn.Tanh(), nn.Linear(inner, width))
"""

HELD = """
import weakref

import torch


@torch.no_grad()
def _given_forgets(block, x1, x2):
    x1, x2 = x1.clone(), x2.clone()
    seen = weakref.ref(x1), weakref.ref(x2)
    y1, y2 = block(x1, x2)
    del x1, x2
    return [place for place, tensor in enumerate(seen) if tensor() is not None]
"""


def reversible() -> list[Check]:
    """reformer.reversible: both ways, and nothing kept"""

    def cases(draw: Draw, methods=(None, "inverse")):
        for shape, inner in [((1, 1, 1), 2), ((1, 3, 2), 3), ((3, 4, 5), 4)]:
            halves = tuple(Part(LAYER, "_given_layer", (shape[-1], wide)) for wide in (inner, inner + 1))
            for method in methods:
                states = (draw.normal(*shape), draw.normal(*shape))
                yield draw.module("ReversibleBlock", halves, states, method=method, length=64)

    def probes(draw: Draw, _):
        drawn = [case for case in cases(draw, (None,))][:2]
        return [Probe(partial(_kept, case), case) for case in drawn]

    def explain(expected, actual):
        return "after the forward pass your block still holds its inputs; then nothing is saved by computing them again"

    return [*module(cases), Check("keeps nothing", probes, 3.0, explain=explain, property="cost")]


def _kept(case: Case, subject) -> list[int]:
    block = case.build(subject)
    subject.bind(HELD, ["_given_forgets"])
    return subject.call("_given_forgets", block, *case.args)


BENDS = """
from torch import nn


def _given_bend(name):
    return getattr(nn, name)(*([-1] if name == "Softmax" else []))
"""


def chunked() -> list[Check]:
    """reformer.chunked: the values, and how often f is called with how much"""

    def cases(draw: Draw):
        for (batch, length, width), chunk in _chunks(draw):
            for name in ("Softmax", "GELU"):
                f = Part(BENDS, "_given_bend", (name,), description=f"nn.{name}")
                yield Case("chunked_feed_forward", (f, draw.normal(batch, length, width), chunk))

    def probes(draw: Draw, _):
        drawn = [(draw.normal(*shape), chunk) for shape, chunk in _chunks(draw)]
        return [Probe(partial(_calls, *given), Case("chunked_feed_forward", (_Shown(), *given))) for given in drawn]

    return [*function(cases), Check("calls of f", probes, 3.0, core=True, explain=_of_calls)]


def _chunks(draw: Draw):
    return [
        ((1, 1, 2), 1),
        ((1, 4, 2), 2),
        ((1, 5, 3), 2),  # the last is shorter
        ((2, 7, 3), 3),
        ((4, 3, 2), 5),  # all at once
        ((3, 6, 4), 1),
        ((2, draw.integer(8, 12), 3), 4),
    ]


class _Shown:
    shown = "a function that notes what it is called with"


def _calls(x: Tensor, chunk: int, subject) -> dict[str, list]:
    """The shape and the first number of every piece, in the order in which they came."""
    shapes, firsts = [], []

    def f(part):
        if not isinstance(part, Tensor) or part.numel() == 0:
            raise ValueError("f takes a tensor of at least one position")
        shapes.append(list(part.shape))
        firsts.append(part.flatten()[0].item())
        return part * 2

    return {"result": subject.call("chunked_feed_forward", f, x, chunk), "shapes": shapes, "firsts": firsts}


def _of_calls(expected: dict, actual: dict) -> str:
    shapes, wanted = actual["shapes"], expected["shapes"]
    if len(shapes) != len(wanted):
        return f"f is called {len(shapes)} times instead of {len(wanted)}"
    if shapes != wanted:
        return f"f is called with pieces of shape {shapes}, expected are {wanted}"
    if actual["firsts"] != expected["firsts"]:
        return "f gets the pieces in another order than that of the text"
    return "f is called as it should be, and its results are put together wrongly"


def pool() -> list[Check]:
    """funnel.pool"""

    def cases(draw: Draw):
        for batch, length, width in [(1, 1, 2), (1, 2, 1), (1, 3, 2), (2, 6, 3), (3, 7, 4), (2, 9, 2)]:
            yield Case("pool_sequence", (4 + 2 * draw.normal(batch, length, width), _in_each_pair(draw, batch, length)))
        mask = torch.tensor([[1, 0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 1, 1]]).bool()
        yield Case("pool_sequence", (4 + 2 * draw.normal(2, 7, 3), mask))

    def nothing(draw: Draw):
        holes = torch.tensor([[True, False, False, True, True, True, False, False], [False] * 8])
        yield Case("pool_sequence", (4 + 2 * draw.normal(2, 8, 3), holes))
        yield Case("pool_sequence", (draw.normal(2, 3, 2), torch.tensor([[True, True, False], [False, False, True]])))
        yield Case("pool_sequence", (4 + 2 * draw.normal(2, 7, 2), torch.arange(7)[None] < torch.tensor([[7], [2]])))

    return [*function(cases), edges(nothing, "a pair in which nothing is real")]


def _in_each_pair(draw: Draw, batch: int, length: int) -> Tensor:
    """A mask under which something is real in each pair; one of two where there are two, or both."""
    mask = draw.integers(0, 2, batch, length).bool()
    first, second = mask[:, ::2], mask[:, 1::2]
    first[:, second.size(1) :] = True  # a last one without a partner
    first[:, : second.size(1)] |= ~second
    return mask


def disentangled() -> list[Check]:
    """deberta.scores"""

    def cases(draw: Draw, scale: float = 1.0):
        for batch, heads, length, width, k in [
            (1, 1, 1, 1, 1),
            (1, 1, 3, 2, 4),  # no distance is clipped
            (1, 1, 6, 2, 2),
            (2, 2, 4, 3, 3),
            (3, 2, 7, 4, 2),
            (1, 3, 5, 2, 1),
        ]:
            contents = (scale * draw.normal(batch, heads, length, width) for _ in range(2))
            distances = (scale * draw.normal(heads, 2 * k, width) for _ in range(2))
            yield Case("disentangled_scores", (*contents, *distances, k), length=3 * width, scale=scale**2)

    def long(draw: Draw):
        given = [draw.normal(1, 1, 130, 2), draw.normal(1, 1, 130, 2), *(draw.normal(1, 140, 2) for _ in range(2))]
        yield Case("disentangled_scores", (*given, 70), length=6, scale=16.0)

    return [*function(cases, long=long), extremes(lambda draw: cases(draw, 70.0))]


def dynamic_conv() -> list[Check]:
    """convbert.dynamic_conv"""

    def cases(draw: Draw, scale: float = 1.5):
        for batch, length, width, kernel_size in [
            (1, 1, 2, 1),
            (1, 4, 1, 3),
            (1, 1, 2, 3),  # only the middle tap meets anything
            (2, 6, 3, 3),
            (3, 7, 4, 5),
            (1, 2, 3, 7),  # a kernel longer than the text
            (2, 5, 2, 1),
        ]:
            given = (draw.normal(batch, length, width), scale * draw.normal(batch, length, kernel_size))
            yield Case("span_dynamic_conv", given, amplify=4.0)

    def small(draw: Draw):
        yield Case("span_dynamic_conv", (draw.normal(2, 5, 2), draw.normal(2, 5, 3)))

    def long(draw: Draw, length: int) -> Case:
        return Case("span_dynamic_conv", (draw.normal(1, length, 4), draw.normal(1, length, 3)), amplify=4.0)

    seen = [flow(small, 0, "which values arrive"), flow(small, 1, "whose kernel counts")]
    message = "twice the text costs four times as much, though each position meets W others only"
    cost_check = cost(long, message, count_at=256, measure_at=6144)
    return [*function(cases), extremes(lambda draw: cases(draw, 1e4)), *seen, cost_check]
