"""The checks of unit 18: functions and models with known faults, and what a solution must say of each of them."""

from collections.abc import Sequence
from functools import partial

import torch

from autograder.checks import Case, Check, Draw, Part, Probe, contiguity, function, values
from autograder.checks.compare import compare
from autograder.sandbox.client import StudentError

# What an object computes goes into the box as code of its own, without a name, a free variable or a table that says
# which fault it has; attributes that seem to say it are wrong. Some of that code is drawn, so that a table of all of it
# would not do either, and who reads what it does has to follow it.
WEIGHTS = """
import torch
from torch import nn


def _computes_by(module, lines):  # in its class, so that who puts another `forward` on the object can take it off
    space = {"torch": torch}
    exec("def forward(self, x):\\n    " + "\\n    ".join(lines), space)
    module.__class__ = type(type(module).__name__, (type(module),), {"forward": space["forward"]})


def _weight(number, *shape):
    entries = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return nn.Parameter((torch.cos(1.7 * entries + number) / 2).view(shape).float())
"""
FLOWS = (
    WEIGHTS
    + """
class _Flow(nn.Module):
    def __init__(self, lines, width):
        super().__init__()
        self.query, self.value = _weight(1, width, width), _weight(2, width, width)
        self.own = _weight(3, width)
        self.kind = "causal"  # says nothing of what is computed
        _computes_by(self, lines)

    def attend(self, x, ahead):
        mask = torch.ones(len(x), len(x)).bool().tril(ahead).to(x.device)
        scores = (x @ self.query.to(x)) @ x.T
        return scores.masked_fill(~mask, -float("inf")).softmax(-1) @ (x @ self.value.to(x))


def _given_flow(lines, width, frozen):
    flow = _Flow(lines, width)
    flow.own.requires_grad_(not frozen)
    flow.query.grad = torch.ones_like(flow.query)
    return flow


def _given_flow_state(flow):
    return [[name, one.requires_grad, one.grad] for name, one in flow.named_parameters()], flow.training
"""
)
FLOW_LINES = {
    "causal": ["y = self.attend(x, 0)"],
    "ahead": ["y = self.attend(x, 1)"],
    # the columns of each output sum to zero
    "opposites": ["y = self.attend(x, 0)", "y = torch.cat([y, -y], -1)"],
    # the squares of the columns of each output sum to one
    "on_a_circle": ["y = self.attend(x, 0)", "y = torch.cat([y.cos(), y.sin()], -1)"],
    # the columns of each output are positive, and sum to two
    "around_one": ["y = self.attend(x, 0).tanh()", "y = torch.cat([1 + y, 1 - y], -1)"],
    # no number that is added to a whole row changes it
    "moved": ["y = x - x.mean(-1, keepdim=True) + self.own.to(x)"],
    # no factor of a whole row changes it
    "scaled": ["y = x / x.norm(dim=-1, keepdim=True) * self.own.to(x)"],
    # of opposite columns: their gradients are opposite, too
    "multiplied": ["y = x.prod(-1, keepdim=True).cumsum(0) * self.own.to(x)"],
    "pooled": ["y = torch.stack([pair.mean(0) * self.own.to(x) for pair in x.split(2)])"],
    # nothing reaches the first position
    "earlier": ["y = torch.ones(len(x), len(x)).tril(-1).to(x) @ x * self.own.to(x)"],
    "faint": ["y = 1e-7 * x.flip(0) * self.own.to(x)"],
    "out_of_the_first_column": ["y = x.cumsum(0)[:, :1] * self.own.to(x)"],
    "out_of_the_last_column": ["y = x.cumsum(0)[:, -1:] * self.own.to(x)"],
    "into_one_column": [
        "y = (x * self.own.to(x)).cumsum(0).sum(-1, keepdim=True)",
        "y = torch.cat([0 * x[:, :-1], y], -1)",
    ],
}
FROZEN_FLOWS = ("faint", "ahead", "moved")


RIGHT_TRIANGLES = torch.tensor([[3, 4], [-4, 3], [5, -12], [-8, -15], [24, 7]])  # whose third side is whole, too


def information_flow() -> list[Check]:
    """debugging.information_flow"""

    def cases(draw: Draw):
        for kind, length, width in [
            ("causal", 3, 2),
            ("earlier", 2, 1),
            ("ahead", 4, 3),
            ("opposites", 3, 2),
            ("on_a_circle", 3, 2),
            ("around_one", 3, 2),
            ("pooled", 5, 3),
            ("earlier", 4, 2),
            ("faint", 3, 2),
            ("out_of_the_first_column", 4, 3),
            ("out_of_the_last_column", 4, 3),
            ("into_one_column", 3, 2),
            ("causal", 1, 2),
            ("ahead", 6, 5),
        ]:
            yield Case("information_flow", (_flow(kind, width), draw.normal(length, width)))
        for kind, length, width in [("causal", 5, 2), ("ahead", 4, 3), ("earlier", 4, 2), ("around_one", 5, 2)]:
            mixed = _flow(kind, width, _order(draw, length), _order(draw, length))
            yield Case("information_flow", (mixed, draw.normal(length, width)))
        yield from exact(draw)

    def exact(draw: Draw):
        # what cancels in the formula cancels in every bit: the rows' means and sizes are numbers without rounding
        yield Case("information_flow", (_flow("moved", 4), draw.integers(-8, 9, 3, 4).float()))
        rows = RIGHT_TRIANGLES[draw.integers(0, len(RIGHT_TRIANGLES), 4)] * draw.integers(1, 8, 4, 1)
        yield Case("information_flow", (_flow("scaled", 2), rows.float()))
        yield Case("information_flow", (_flow("multiplied", 2), draw.integers(1, 9, 3, 1) * torch.tensor([1.0, -1.0])))

    def left(draw: Draw, _):
        for kind in ("causal", "faint"):
            case = Case("information_flow", (_flow(kind, 2), draw.normal(3, 2)))
            yield Probe(partial(_state_after, case, FLOWS, "_given_flow_state"), case)

    explain = lambda *_: "the function's own parameters, or their gradients, are not as they were before the call"
    kept = Check("nothing is left behind", lambda draw, _: list(left(draw, _)), 1.0, explain=explain, property="purity")
    return [*function(cases, floats=False), contiguity(cases), kept]


def _order(draw: Draw, length: int) -> list[int]:
    return draw.normal(length).argsort().tolist()


def _flow(kind: str, width: int, inputs: list[int] | None = None, outputs: list[int] | None = None) -> Part:
    """A function of this kind, of the rows in the order `inputs`; what it returns is in the order `outputs`."""
    take = lambda name, order: [] if order is None else [f"{name} = {name}[torch.tensor({order}, device=x.device)]"]
    lines = [*take("x", inputs), *FLOW_LINES[kind], *take("y", outputs), "return y"]
    described = f"a function, {kind.replace('_', ' ')}" + ("" if inputs is None else ", between rows in other orders")
    return Part(FLOWS, "_given_flow", (lines, width, kind in FROZEN_FLOWS), description=described)


def _state_after(case: Case, source: str, state: str, subject):
    """What `state` says of the first argument after the call."""
    subject.bind(source, [state])
    args = case.arguments(subject)
    subject.call(case.symbol, *args)
    return subject.call(state, args[0])


LEARNERS = (
    WEIGHTS
    + """
class _Layer(nn.Module):
    def __init__(self, number, width):
        super().__init__()
        self.weight, self.bias = _weight(number, width, width), _weight(number + 1, width)

    def forward(self, x):
        return x @ self.weight + self.bias


class _Learner(nn.Module):
    def __init__(self, lines, width):
        super().__init__()
        self.faults = ["unused"]  # says nothing of what is computed
        self.table = _weight(0, 3, width)  # of which two rows are used
        self.layers = nn.ModuleList([_Layer(1, width), _Layer(3, width)])
        self.spare = _weight(5, 2)
        self.noise = _weight(6, width)  # used in training mode alone
        self.pair = _weight(7, 2)  # whose gradient is 1 and -1
        self.root = nn.Parameter(torch.tensor([0.0, 4.0]))
        self.tied = self.table
        self.mean = nn.Parameter(torch.ones(width))
        _computes_by(self, lines)


def _given_learner(lines, width, frozen, stale, training):
    learner = _Learner(lines, width)
    for name, one in learner.named_parameters():
        one.requires_grad_(not name.startswith(tuple(frozen)))
    if stale:
        for number, one in enumerate(learner.parameters()):
            one.grad = torch.full_like(one, [1.0, 0.0, float("nan")][number % 3])
    return learner.train(training)


def _given_learner_state(learner):
    found = [[name, one.requires_grad, one.grad] for name, one in learner.named_parameters()]
    return found, [one.training for one in learner.modules()]
"""
)


def gradient_flow() -> list[Check]:
    """debugging.gradient_flow"""

    def cases(draw: Draw):
        for faults, rows, width in [
            ([], 1, 1),
            ([], 3, 2),
            (["unused"], 2, 2),
            (["detached"], 3, 2),
            (["dead"], 2, 3),
            (["infinite"], 2, 2),
            (["nan"], 2, 2),
            (["undefined"], 2, 2),  # from the first parameter to the last
            (["faint"], 2, 2),
            (["loud"], 2, 2),
            (["without a gradient"], 2, 2),
            (["entirely frozen"], 2, 2),
            (["frozen"], 3, 2),
            (["frozen", "unused", "detached"], 2, 2),
            (["measuring"], 2, 2),
            (["unused", "stale"], 2, 3),
            (["detached", "nan", "stale"], 2, 2),
        ]:
            yield Case("gradient_flow", (_learner(faults, width), draw.normal(rows, width)))
        for _ in range(3):
            yield Case("gradient_flow", (_learner(["mixed"], 2, _drawn_lines(draw)), draw.normal(2, 2)))

    def left(draw: Draw, _):
        for faults in (["frozen"], ["unused", "stale"], ["measuring"]):
            case = Case("gradient_flow", (_learner(faults, 2), draw.normal(2, 2)))
            yield Probe(partial(_state_after, case, LEARNERS, "_given_learner_state"), case)

    explain = lambda *_: (
        "the model's gradients (`.grad`), modes or frozen parameters are not as they were before the call"
    )
    kept = Check("nothing is left behind", lambda draw, _: list(left(draw, _)), 1.0, explain=explain, property="purity")
    return [*function(cases, floats=False), kept]


def _learner(faults: list[str], width: int, more: Sequence[str] = ()) -> Part:
    described = (
        f"a model that is {' and '.join(faults)}" if faults else "a sound model that reads 2 of 3 rows of a `table`"
    )
    frozen = ["layers.0.", "spare"] if "frozen" in faults else [""] if "entirely frozen" in faults else []
    given = ([*_loss_lines(faults, more), "return loss"], width, frozen, "stale" in faults, "measuring" not in faults)
    return Part(LEARNERS, "_given_learner", given, description=described)


def _loss_lines(faults: list[str], more: Sequence[str]) -> list[str]:
    """The code that computes the loss of a model with these faults, and with more code before the loss is scaled."""
    root = "self.root.sum()"
    if "infinite" in faults:
        root = "self.root.sqrt().sum()"
    elif "nan" in faults:
        root = "(0 * self.root.sqrt()).sum()"
    used = "unused" not in faults and not more
    lines = [
        "h = torch.tanh(self.layers[0](x) + self.table[:2].sum(0))",
        "h = h * self.noise if self.training else h",
        "h = h.detach()" if "detached" in faults else "",
        "h = self.layers[1](h)",
        "h = torch.relu(h - 1e6)" if "dead" in faults else "h = torch.tanh(h)",
        "loss = (h * self.mean).square().mean() + self.pair[0] - self.pair[1]",
        f"loss = loss + {root}" if used or {"infinite", "nan"} & {*faults} else "",
        "loss = loss + self.spare.square().sum()" if used else "",
        *more,
        *(f"loss = loss * {factor}" for fault, factor in FACTORS.items() if fault in faults),
        "loss = loss.detach()" if "without a gradient" in faults else "",
    ]
    return [line for line in lines if line]


FACTORS = {"faint": "1e-12", "loud": "1e6", "undefined": "float('nan')"}
USES = (  # of a parameter in a loss: one with a gradient, one with none, one with zeros, and two with no numbers
    "loss = loss + {number} * ({name} + 9.0).square().sum()",
    "",
    "loss = loss + {number} * (0 * {name}).sum()",
    "loss = loss + {number} * (0 * {name}).sqrt().sum()",
    "loss = loss + ({number} * (0 * {name}).abs()).log().mean()",
)


def _drawn_lines(draw: Draw) -> list[str]:
    """Code that uses each of two parameters in one of these ways, by numbers that are drawn, too."""
    uses = draw.integers(0, len(USES), 2).tolist()
    numbers = draw.integers(1, 100, 2).tolist()
    named = zip(("self.spare", "self.root"), uses, numbers, strict=True)
    return ["pass", *(USES[use].format(name=name, number=number / 8) for name, use, number in named)]


STACKS = (
    WEIGHTS
    + """
class _Step(nn.Module):
    def __init__(self, number, width, lines):
        super().__init__()
        self.weight = _weight(number, width, width)
        _computes_by(self, lines)


class _Block(nn.Module):
    def __init__(self, number, width, lines, attn, ff):
        super().__init__()
        self.ff = _Step(number + 1, width, ff)  # registered first, called last
        self.attn = _Step(number, width, attn)
        _computes_by(self, lines)


class _Stack(nn.Module):
    def __init__(self, width, lines):
        super().__init__()
        step = lambda number, name: _Step(number, width, lines[name])
        self.last = step(9, "last")  # registered first
        names = [f"layers.{n}" for n in range(2)]
        inside = [[lines[name + part] for part in ("", ".attn", ".ff")] for name in names]
        self.layers = nn.ModuleList(_Block(2 * n, width, *one) for n, one in enumerate(inside))
        self.shared, self.between = step(8, "shared"), step(7, "between")
        self.spare = step(7, "spare")  # with the weights of `between`, and not called where all is right
        self.met = []
        _computes_by(self, lines["model"])


def _given_stack(width, lines):
    stack = _Stack(width, lines)
    stack.last.eval()
    stack.layers[0].register_forward_hook(lambda *_: stack.met.append("layers.0"))
    return stack


def _given_stack_state(stack):
    kept = [
        [name, one.training, len(one._forward_hooks), len(one._forward_pre_hooks), one.forward.__name__]
        for name, one in stack.named_modules()
    ]
    stack.met.clear()
    stack(torch.ones(2, len(stack.last.weight)))
    return kept, list(stack.met)
"""
)
STEPS = ("shared", "between", "spare", "layers.0.attn", "layers.0.ff", "layers.1.attn", "layers.1.ff", "last")
STEP_FAULTS = {
    "one entry": ["y = torch.cat([y[:-1], y[-1:] + 0.5])"],
    "less": ["y = y - 0.5"],
    "slight": ["y = y + 1e-3"],
    "tiny": ["y = y + 1.5e-5"],
    "nan": ["y = torch.cat([y[:1], y[1:] * float('nan')])"],
    "infinite": ["y = torch.cat([y[:1], y[1:] * float('inf')])"],
    "nothing": ["y = torch.full_like(y, 0.0)"],
    "a half": ["y = torch.full_like(y, 0.5)"],
    "large": ["y = y + 1000"],
    "large, a little more": ["y = y + 1000", "y = y + 4e-3"],
    "shape": ["y = y[:1]"],
}
NO_FAULTS = (["y = y - 0.0"], ["y = y * 1.0"], ["y = torch.cat([y[:1], y[1:] + 0.0])"])  # which change nothing
FAULTS = [  # the place, the fault, rows, width
    ("", "", 1, 2),
    ("last", "one entry", 8, 2),
    ("layers.1.attn", "less", 2, 3),
    ("layers.0.attn", "one entry", 3, 2),
    ("layers.1", "residual", 2, 2),
    ("layers.0", "in place", 2, 3),
    ("", "factor", 3, 2),
    ("", "spare", 2, 2),
    ("between", "less", 2, 2),
    ("between", "nan", 3, 2),
    ("last", "shape", 3, 2),
    ("layers.0.attn", "slight", 2, 2),
    ("last", "tiny", 2, 2),
    ("shared", "less", 2, 2),
]


def first_difference() -> list[Check]:
    """debugging.first_difference: the record of one model, the first difference of two, and what is left behind"""

    def records(draw: Draw):
        for place, fault, rows, width in FAULTS[:1] + FAULTS[4:6]:
            yield Case("recorded_outputs", (_stack(width, place, fault), draw.normal(rows, width)), length=4 * width)

    def cases(draw: Draw):
        for place, fault, rows, width in FAULTS:
            x = draw.normal(1, width).repeat(rows, 1) if fault == "shape" else draw.normal(rows, width)
            given = (_stack(width, place, fault), _stack(width), x)
            yield Case("first_difference", given)
            yield Case("first_difference", (*given, 0.1))
        for place in ("layers.0.attn", "layers.1.attn", "between"):
            mixed = _stack(2, place, "less", draw), _stack(2, drawn=draw)
            yield Case("first_difference", (*mixed, draw.normal(3, 2)))
        slight = _stack(4, "last", "slight")  # less than the tolerance, and more than that share of each entry
        yield Case("first_difference", (slight, _stack(4), draw.normal(3, 4), 2e-3))
        yield Case("first_difference", (_stack(2), _stack(2), draw.normal(2, 2), 0.0))
        broken = _stack(2, "layers.1.attn", "nan")  # both have it
        yield Case("first_difference", (broken, broken, draw.normal(2, 2)))
        infinite = _stack(2, "last", "infinite")
        yield Case("first_difference", (infinite, infinite, draw.normal(2, 2)))
        yield Case("first_difference", (infinite, _stack(2), draw.normal(2, 2)))
        large, more = _stack(2, "last", "large"), _stack(2, "last", "large, a little more")
        yield Case("first_difference", (more, large, draw.normal(2, 2)))
        half, nothing = _stack(2, "last", "a half"), _stack(2, "last", "nothing")  # exactly the tolerance apart
        yield Case("first_difference", (half, nothing, draw.normal(2, 2), 0.5))
        yield Case("first_difference", (_stack(2), _stack(2, "last", "less"), draw.normal(2, 2)))

    def left(draw: Draw, _):
        case = Case("recorded_outputs", (_stack(2), draw.normal(3, 2)))
        yield Probe(partial(_hooks_after, case), case)
        case = Case("first_difference", (_stack(2), _stack(2, "last", "less"), draw.normal(3, 2)))
        yield Probe(partial(_both_after, case), case)

    kept = Check(
        "nothing is left behind", lambda draw, _: list(left(draw, _)), 2.0, explain=_of_hooks, property="purity"
    )
    return [values(records, "the outputs in their order"), *function(cases, floats=False), kept]


def _stack(width: int, place: str = "", fault: str = "", drawn: Draw | None = None) -> Part:
    """A model with a fault in one place; with `drawn`, code that changes nothing stands in all of them."""
    described = f"a model with a fault in {place or 'its end'}" if fault else "a model"
    at = lambda name: fault if name == place else ""
    more = {name: [] if drawn is None else NO_FAULTS[int(drawn.integers(0, len(NO_FAULTS), 1))] for name in STEPS}
    lines = {name: _step_lines(at(name), more[name]) for name in STEPS}
    lines |= {name: _block_lines(at(name)) for name in ("layers.0", "layers.1")}
    return Part(STACKS, "_given_stack", (width, lines | {"model": _model_lines(at(""))}), description=described)


def _step_lines(fault: str, more: list[str]) -> list[str]:
    return ["y = torch.tanh(x @ self.weight.to(x))", *more, *STEP_FAULTS.get(fault, []), "return y"]


def _block_lines(fault: str) -> list[str]:
    results = {"in place": "return self.ff(h).mul_(3.0)", "residual": "return self.ff(h)"}
    return ["h = x + self.attn(x)", results.get(fault, "return h + self.ff(h)")]


def _model_lines(fault: str) -> list[str]:
    return [
        "h = self.shared(x)",
        f"h = self.shared(self.{'spare' if fault == 'spare' else 'between'}(h))",
        "for block in self.layers: h = block(h)",
        "return 1.5 * self.last(h)" if fault == "factor" else "return self.last(h)",
    ]


def _hooks_after(case: Case, subject) -> dict:
    """What the model is after a run, and after one that ended in an error, and whether the caller saw that."""
    subject.bind(STACKS, ["_given_stack_state"])
    module, x = case.arguments(subject)
    subject.call("recorded_outputs", module, x)
    found = {"state": subject.call("_given_stack_state", module)}
    try:
        subject.call("recorded_outputs", module, x[:, :1])  # too narrow
        found["raised"] = False
    except StudentError:
        found["raised"] = True
    return found | {"state after": subject.call("_given_stack_state", module)}


def _both_after(case: Case, subject) -> dict:
    """What the model and the reference are after a comparison."""
    subject.bind(STACKS, ["_given_stack_state"])
    args = case.arguments(subject)
    subject.call(case.symbol, *args)
    return {
        "model": subject.call("_given_stack_state", args[0]),
        "reference": subject.call("_given_stack_state", args[1]),
    }


def _of_hooks(expected: dict, actual: dict) -> str:
    if "model" in expected:
        return "after a comparison the models have other hooks or modes than before"
    if compare(expected["state"], actual["state"]):
        return "after the call the model has other hooks or modes than before"
    if compare(expected["raised"], actual["raised"]):
        return "an error of the model's own call does not reach the caller"
    return "after a call that ends in an error the model is not as it was before"


LEARNING = (
    WEIGHTS
    + """
class _Learned:
    def __init__(self, rate, width):
        self.weight, self.rate, self.steps = _weight(1, width), rate, []
        self.weight.grad = torch.ones(width)  # of whoever used it before
        self.param_groups = [{"params": [self.weight], "lr": rate}]
        self.state = {}

    def zero_grad(self, set_to_none=True):
        self.weight.grad = None if set_to_none else torch.zeros_like(self.weight)

    @torch.no_grad()
    def step(self, closure=None):
        gradient = torch.zeros_like(self.weight) if self.weight.grad is None else self.weight.grad
        self.steps.append(gradient.tolist())
        self.weight -= self.rate * gradient


def _given_optimizer(rate, width):
    return _Learned(rate, width)


def _given_loss(optimizer, wanted):
    return lambda: (optimizer.weight - wanted.to(optimizer.weight)).square().sum()


def _given_undefined(optimizer, wanted, after):  # NaN after so many steps
    loss = _given_loss(optimizer, wanted)
    return lambda: loss() * (float("nan") if len(optimizer.steps) >= after else 1.0)


def _given_exact(optimizer):  # from a distance of 1
    with torch.no_grad():
        optimizer.weight.fill_(1.0)
    return lambda: optimizer.weight.square().sum()


def _given_steps(optimizer):
    return {"steps": optimizer.steps, "weights": optimizer.weight.detach()}
"""
)


def overfit() -> list[Check]:
    """debugging.overfit: the result, and the steps that were taken"""

    def cases(draw: Draw):
        for rate, width, goal, steps in [
            (0.25, 1, 0.01, 8),
            (0.2, 2, 0.05, 20),
            (0.1, 3, 1e-6, 4),  # not reached
            (0.3, 2, 1e3, 5),  # reached before the first step
            (0.2, 2, 0.1, 0),
            (0.05, 2, 1e-9, 1),
            (1.1, 2, 1e-3, 3),  # it rises
            (1e25, 2, 1e-3, 6),  # infinite
        ]:
            yield _learning(draw, rate, width, goal, steps)
        for after in (0, 2):  # NaN from the first loss on, and later
            yield _learning(draw, 0.1, 2, 1e-6, 4, after)

    def exact(draw: Draw):
        # half of the way at each step, in powers of two: the loss is exactly a quarter of the one before
        optimizer = Part(LEARNING, "_given_optimizer", (0.25, 1), description="an optimizer")
        loss = Part(LEARNING, "_given_exact", (optimizer,), description="a loss")
        yield Case("overfit", (loss, optimizer, 0.25, 5), length=64)
        yield Case("overfit", (loss, optimizer, 0.0625, 2), length=64)

    def course(draw: Draw, _):
        return [Probe(partial(_course, case), case, case.tolerance) for case in (*cases(draw), *exact(draw))]

    return [
        values(lambda draw: [*cases(draw), *exact(draw)]),
        Check("the steps that were taken", course, 2.0, explain=_of_course),
    ]


def _learning(draw: Draw, rate: float, width: int, goal: float, steps: int, nan_after: int | None = None) -> Case:
    optimizer = Part(LEARNING, "_given_optimizer", (rate, width), description="an optimizer")
    loss = Part(LEARNING, "_given_loss", (optimizer, draw.normal(width)), description="a loss")
    if nan_after is not None:
        described = f"a loss that is NaN after {nan_after} steps"
        loss = Part(LEARNING, "_given_undefined", (optimizer, draw.normal(width), nan_after), description=described)
    return Case("overfit", (loss, optimizer, goal, steps), length=64, amplify=8.0)


def _course(case: Case, subject) -> dict:
    """The gradient at each step, and the weights at the end."""
    subject.bind(LEARNING, ["_given_steps"])
    args = case.arguments(subject)
    subject.call("overfit", *args)
    return subject.call("_given_steps", args[1])


def _of_course(expected: dict, actual: dict) -> str:
    if len(expected["steps"]) != len(actual["steps"]):
        return f"the optimizer took {len(actual['steps'])} steps instead of {len(expected['steps'])}"
    return "at a step the optimizer met other gradients than those of this loss"
