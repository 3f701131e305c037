"""The checks of unit 16: random inputs, and the properties that a solution must have for each of them."""

from functools import partial

from autograder.checks import Case, Check, Draw, Part, Probe, edges, extremes, function
from autograder.checks.compare import compare
from autograder.sandbox.client import StudentError


def logit_lens() -> list[Check]:
    """inside.logit_lens"""

    def cases(draw: Draw, scale: float = 1.0):
        for layers, batch, length, width, vocab in [
            (1, 1, 1, 2, 2),
            (3, 1, 2, 3, 4),
            (2, 2, 3, 4, 5),
            (4, 3, 4, 4, 3),  # as many layers as positions and columns
            (2, 2, 2, 2, 2),
            (5, 2, 1, 6, 7),
        ]:
            states = scale * draw.normal(layers, batch, length, width)
            given = (states, 1.0 + 0.5 * draw.normal(width), draw.normal(vocab, width))
            yield Case("logit_lens", given, length=2 * width)
            yield Case("logit_lens", given, {"eps": 0.5}, length=2 * width)
        small = 1e-3 * draw.normal(2, 1, 3, 4)  # where the default eps matters
        yield Case("logit_lens", (small, 1.0 + 0.5 * draw.normal(4), draw.normal(5, 4)), length=8)

    def long(draw: Draw):
        yield Case("logit_lens", (draw.normal(2, 1, 530, 3), draw.normal(3), draw.normal(4, 3)), length=8)

    return [*function(cases, long=long), extremes(lambda draw: cases(draw, 1e4))]


LAYERS = """
import torch
from torch import nn
from torch.nn.functional import linear


class _Layer(nn.Module):
    def __init__(self, width, out, number):
        super().__init__()
        entries = torch.arange(out * width, dtype=torch.float64)
        self.weight = nn.Parameter(torch.cos(1.7 * entries + number).view(out, width) / 2)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return linear(x, self.weight.to(x))


class _Tower(nn.Module):
    def __init__(self, width, wide):
        super().__init__()
        self.first = _Layer(width, wide, 1)
        inner, other = nn.Sequential(_Layer(wide, wide, 2), nn.Tanh()), _Layer(wide, wide, 3)
        # a second name that ends in "first", and a layer that is called twice
        self.middle = nn.ModuleDict({"inner": inner, "other": other, "first": _Layer(wide, wide, 5)})
        self.last = _Layer(wide, width, 4)

    def forward(self, x, times=None):
        h = self.first(x)
        other = self.middle["other"]
        h = self.middle["inner"](h) + other(h) + h @ other.weight.to(x)
        h = other(h) + self.middle["first"](h)
        return self.last(h) if times is None else self.last(h) * times


def _given_tower(width, wide):
    tower = _Tower(width, wide)
    tower.middle["other"].eval()
    tower.met = []
    for name in ("first", "middle.inner", "middle.inner.0", "middle.other", "middle.first", "last"):
        tower.get_submodule(name).register_forward_hook(lambda *_, name=name: tower.met.append(name))
    return tower


def _given_result(tower, *args):
    tower.met.clear()
    return tower(*args), list(tower.met)


def _given_calls(tower, child):  # whether each layer was called, but for the child's own, which need not run
    layers = [(name, one) for name, one in tower.named_modules() if hasattr(one, "calls")]
    return {name: one.calls > 0 for name, one in layers if name != child and not name.startswith(child + ".")}


def _given_state(tower):
    state = []
    for name, one in tower.named_modules():
        hooks = [len(found) for found in (one._forward_hooks, one._forward_pre_hooks, one._backward_hooks)]
        names = sorted(vars(one)), sorted(dict(one.named_parameters()))
        state.append([name, type(one).__name__, one.training, hooks, *names])
    return state
"""
GIVEN = ["_given_tower", "_given_result", "_given_state", "_given_calls"]


def patch() -> list[Check]:
    """inside.patch: the values, and that nothing is left behind, after an error either"""

    def cases(draw: Draw):
        for (batch, width, wide), child in _places():
            value = draw.normal(batch, width if child == "last" else wide)
            yield Case("run_patched", (_tower(width, wide), child, value, draw.normal(batch, width)), length=4 * wide)
        given = (draw.normal(2, 4), draw.normal(2, 3), draw.normal(2, 3))  # and one more argument of the module
        yield Case("run_patched", (_tower(3, 4), "middle.inner", *given), length=16)

    def probes(draw: Draw, _):
        for (batch, width, wide), child in _places():
            given = (child, draw.normal(batch, width if child == "last" else wide), draw.normal(batch, width))
            case = Case("run_patched", (_tower(width, wide), *given))
            yield Probe(partial(_left_behind, case), case)

    left = Check(
        "nothing is left behind", lambda draw, _: list(probes(draw, _)), 3.0, explain=_of_traces, property="purity"
    )
    return [*function(cases), left]


def _tower(width: int, wide: int) -> Part:
    return Part(LAYERS, "_given_tower", (width, wide), description="a module of four layers")


def _places():
    return [
        ((1, 2, 3), "first"),
        ((2, 3, 4), "middle.inner"),
        ((2, 2, 3), "middle.other"),
        ((3, 3, 2), "middle.inner.0"),  # three names deep
        ((2, 4, 3), "last"),
    ]


def _left_behind(case: Case, subject) -> dict:
    """What the module is and does after a patch, and after one whose call went wrong."""
    subject.bind(LAYERS, GIVEN)
    module, child, value, x = case.arguments(subject)
    subject.call("run_patched", module, child, value, x)
    found = {"calls": subject.call("_given_calls", module, child), "state": subject.call("_given_state", module)}
    found["result"] = subject.call("_given_result", module, x)
    try:
        subject.call("run_patched", module, child, value, x, x.new_ones(len(x), x.size(1) + 1))  # too many factors
        found["error"] = False
    except StudentError:
        found["error"] = True
    after = {
        "state after": subject.call("_given_state", module),
        "result after": subject.call("_given_result", module, x),
    }
    return found | after


def _of_traces(expected: dict, actual: dict) -> str:
    if compare(expected["calls"], actual["calls"]):
        calls = actual["calls"]
        if type(calls) is dict and all(ran is False for ran in calls.values()):  # a box may say anything
            return "the module that was passed in did not run, only a copy of it"
        return "parts of the module that were not asked for did not run"
    if compare(expected["error"], actual["error"]):
        return "an error of the module's own call does not reach the caller"
    if compare(expected["state"], actual["state"]):
        return "after the call the module has other hooks, submodules, attributes or modes than before"
    if compare(expected["result"], actual["result"]):
        return "after the call the module still answers as if it were patched, or runs other hooks than before"
    return "after a call that ends in an error the module is not as it was before"


def head_contributions() -> list[Check]:
    """inside.head_contributions"""

    def cases(draw: Draw):
        for batch, heads, queries, keys, width, out in [
            (1, 1, 1, 1, 1, 2),
            (1, 2, 1, 3, 2, 4),
            (2, 3, 4, 4, 2, 6),
            (2, 2, 2, 2, 2, 2),
            (3, 4, 2, 5, 4, 3),  # an output of another width than the heads' together
            (1, 3, 3, 2, 1, 5),
        ]:
            weights = draw.normal(batch, heads, queries, keys).softmax(-1)
            given = (weights, draw.normal(batch, heads, keys, width), draw.normal(out, heads * width))
            yield Case("head_contributions", given, length=keys + width)

    def long(draw: Draw):
        weights = draw.normal(1, 2, 3, 530).softmax(-1)
        yield Case("head_contributions", (weights, draw.normal(1, 2, 530, 2), draw.normal(3, 4)), length=64)

    return function(cases, long=long)


def induction() -> list[Check]:
    """inside.induction"""

    def cases(draw: Draw):
        for batch, heads, length, period in [
            (1, 1, 2, 1),
            (1, 2, 3, 1),
            (2, 3, 4, 2),
            (2, 2, 6, 3),
            (3, 4, 7, 5),
            (1, 3, 8, 7),  # one query counts
            (2, 2, 9, 2),
        ]:
            yield Case(
                "induction_scores", (draw.normal(batch, heads, length, length).softmax(-1), period), length=length
            )

    def nothing(draw: Draw):
        for length, period in [(3, 3), (2, 5), (1, 1)]:
            weights = draw.normal(2, 3, length, length).softmax(-1)
            yield Case("induction_scores", (weights, period))

    def long(draw: Draw):
        yield Case("induction_scores", (draw.normal(1, 2, 140, 140).softmax(-1), 66), length=140)

    return [*function(cases, long=long), edges(nothing, "a text that does not repeat itself")]


def attribution() -> list[Check]:
    """inside.attribution"""

    def cases(draw: Draw):
        for parts, batch, length, width, vocab in [
            (1, 1, 1, 1, 2),
            (2, 1, 3, 2, 4),
            (3, 2, 2, 4, 5),
            (4, 3, 4, 4, 4),
            (2, 2, 5, 3, 6),
        ]:
            target = draw.integers(0, vocab, batch, length)
            rival = (target + draw.integers(1, vocab, batch, length)) % vocab
            states, unembed = draw.normal(parts, batch, length, width), draw.normal(vocab, width)
            yield Case("direct_attribution", (states, unembed, target, rival), length=2 * width, amplify=4.0)

    return function(cases, scatter_ids=True)
