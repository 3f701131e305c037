"""The checks of unit 06: random inputs, and the properties that a solution must have for each of them."""

import math
from dataclasses import replace
from functools import partial

import torch

from autograder.checks import Case, Check, Draw, Part, Probe, contiguity, extremes, function, precision, values
from autograder.checks.compare import FORM, Tolerance, compare, compare_values

END = "</w>"
NEAR = Tolerance(length=256, amplify=8.0)


def label_smoothing() -> list[Check]:
    """training.label_smoothing"""

    def cases(draw: Draw, size=1.0):
        sizes = [(1, 2, 3, 0.1, 1), (1, 1, 2, 0.3, 0), (2, 3, 5, 0.0, 4), (2, 4, 6, 0.2, 3), (3, 5, 4, 0.5, 2)]
        for batch, length, vocab, smoothing, pad in sizes:
            targets = _targets(draw, batch, length, vocab, pad)
            logits = size * draw.normal(batch, length, vocab)
            yield Case("label_smoothed_loss", (logits, targets, smoothing, pad), length=16 * vocab, amplify=4.0)

    def enormous(draw: Draw):
        return cases(draw, 4e3)

    return [*function(cases), extremes(enormous)]


def _targets(draw: Draw, batch: int, length: int, vocab: int, pad: int):
    """Every row starts with a word; its padding is at the end, and there is some where there is room."""
    ids = (pad + draw.integers(1, vocab, batch, length)) % vocab  # anything but the padding
    real = draw.padding_mask(batch, length)
    if batch == 1 and length > 1:
        real[:, -1] = False
    return ids.masked_fill(~real, pad)


def noam() -> list[Check]:
    """training.noam"""

    def cases(draw: Draw):
        for width, warmup in [(1, 1), (4, 3), (16, 10), (512, 4000), (draw.integer(2, 99), draw.integer(20, 400))]:
            for step in (1, warmup // 2 + 1, warmup, warmup + draw.integer(1, 9), 3 * warmup + 1, 50 * warmup):
                yield Case("noam_rate", (step, width, warmup))

    return function(cases, floats=False)


def adamw() -> list[Check]:
    """training.adamw: no gradient is asked, as nobody differentiates an optimizer's step here"""

    def cases(draw: Draw):
        for shape, step, lr, options in [
            ((1,), 1, 0.5, {}),
            ((3,), 1, 0.1, {"weight_decay": 0.0}),
            ((2, 3), 2, 1.0, {}),
            ((4,), 7, 0.3, {"beta1": 0.6, "beta2": 0.8, "weight_decay": 0.3}),
            ((2, 1, 3), 400, 0.5, {"eps": 0.25}),
            ((5,), 100_000, 0.1, {"beta1": 0.0, "weight_decay": 0.1}),  # nothing is left to correct
        ]:
            yield _step(draw, shape, step, lr, options)
        yield _step(draw, (4,), 3, 0.5, {}, size=2e-8)  # gradients as small as eps
        yield _step(draw, (3,), 5, 0.5, {}, size=0.0)  # never a gradient: only the decay moves it

    def long(draw: Draw):
        yield _step(draw, (600, 2), 30, 0.2, {})

    dtypes = [precision(cases, torch.float64), precision(cases, torch.bfloat16), contiguity(cases)]
    return [*function(cases, floats=False, long=long), *dtypes]


def _step(draw: Draw, shape: tuple, step: int, lr: float, options: dict, size: float = 1.0) -> Case:
    """A step from moments such as `step - 1` gradients of that size may have left: zeros before the first."""
    param, grad, m = draw.normal(*shape), size * draw.normal(*shape), 0.3 * size * draw.normal(*shape)
    v = (size * (0.5 + draw.normal(*shape).abs())) ** 2 * (step > 1)
    return Case("adamw_step", (param, grad, m * (step > 1), v, step, lr), options, amplify=4.0)


GIVEN = """
import torch
from torch import nn
from torch.nn.functional import linear


class _Calls(list):
    def __deepcopy__(self, memo):  # a copy of the model may be measured as well, and its calls count
        return self


class _Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.first, self.last = nn.Linear(width, hidden), nn.Linear(hidden, 1)
        for number, parameter in enumerate(self.parameters()):
            entries = torch.arange(parameter.numel(), dtype=torch.float64)
            parameter.data = torch.cos(1.7 * entries + number).view_as(parameter).float() / 2
        self.register_buffer("mean", torch.zeros(hidden))
        self.calls = _Calls()

    def forward(self, x):
        self.calls.append([self.training, torch.is_grad_enabled()])
        first, last = ((layer.weight.to(x), layer.bias.to(x)) for layer in (self.first, self.last))
        h = torch.tanh(linear(x, *first))
        if self.training:  # as a batch norm does: another formula, and a running mean that is changed in place
            self.mean.mul_(0.5).add_(0.5 * h.detach().mean(0).to(self.mean))
            return linear(1.25 * h, *last)
        return linear(h - self.mean.to(x), *last)


class _Optimizer(torch.optim.Optimizer):  # plain gradient descent
    def __init__(self, groups):  # not the base class's: at its first call that imports torch's compiler, for seconds
        self.param_groups, self.trace = groups, []
        self.defaults, self.state = {"lr": 9.0}, {}

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for one in group["params"]:
                one.grad = None if set_to_none or one.grad is None else torch.zeros_like(one)

    @torch.no_grad()
    def step(self, closure=None):
        norm = 0.0
        for group in self.param_groups:
            for one in group["params"]:
                if one.grad is not None:
                    norm += float(one.grad.square().sum())
                    one -= group["lr"] * one.grad
        self.trace.append({"rates": [group["lr"] for group in self.param_groups], "norm": norm**0.5})


def _given_model(width, hidden, train):
    return _Model(width, hidden).train(train)


def _given_optimizer(model):
    return _Optimizer([{"params": list(layer.parameters()), "lr": 9.0} for layer in (model.first, model.last)])


def _given_loss():
    def loss_of(model, batch):
        return (model(batch[:, :-1]).squeeze(-1) - batch[:, -1]).square().mean()

    return loss_of


def _given_rate(rates):
    return lambda step: rates[min(step, len(rates)) - 1]


def _given_trace(model, optimizer):
    calls = [[call[0], call[1]] for call in model.calls]
    state = {name: value.clone() for name, value in model.state_dict().items()}
    return {"steps": optimizer.trace, "calls": calls, "training": model.training, "state": state}


def _given_kept(model, result):  # whether the second result is the same after all of the model's tensors changed
    best = result[1]
    before = {name: value.detach().clone() for name, value in best.items()}
    with torch.no_grad():
        for value in model.state_dict().values():
            value.add_(1.0)
    return all(torch.equal(before[name], value) for name, value in best.items())


def _given_calls(model):
    return {"calls": [[call[0], call[1]] for call in model.calls], "training": model.training}
"""


def train_loop() -> list[Check]:
    """training.train_loop: its measuring alone, what it returns, and what the model and the optimizer went through"""
    runs = [  # batches, in a step, steps between two measurements, and the options
        (1, 1, 1, {}),
        (6, 3, 1, {"max_norm": 0.5}),
        (7, 3, 1, {"max_norm": 100.0}),  # the last step has one batch
        (5, 2, 4, {"max_norm": 0.25}),  # fewer steps than lie between two measurements
        (9, 1, 4, {"max_norm": 0.7}),  # the last measurement comes early
        (8, 2, 2, {}),  # the last step is one of those that are measured anyway
    ]

    def measured(draw: Draw):
        for number in (1, 2, 5):
            batches = [draw.normal(3, 3) for _ in range(number)]
            yield Case("held_out_loss", (_model(2, 3, train=True), _part("_given_loss"), batches), length=64)

    def cases(draw: Draw):
        for batches, together, every, options in runs:
            yield _run(draw, batches, together, every, options)
        yield _there_and_back(draw)

    def modes(draw: Draw, _):
        return [Probe(partial(_calls, case), case) for case in measured(draw)]

    def course_of_it(draw: Draw, _):
        return [Probe(partial(_trace, case), case, case.tolerance) for case in cases(draw)]

    def copied(draw: Draw, _):
        return [Probe(partial(_kept, case), case) for case in (_run(draw, 3, 1, 1, {}),)]

    return [  # measuring first, since training is measured by it
        values(measured, "the held-out loss"),
        Check("measured in eval mode, without gradients", modes, explain=_of_modes),
        replace(values(cases), explain=_of_results),
        Check("the course of the training", course_of_it, weight=2.0, explain=_of_course),
        Check("the best weights are a copy", copied, explain=_of_copy),
    ]


def _part(name: str, *args) -> Part:
    described = {"_given_model": "a model", "_given_optimizer": "an optimizer", "_given_loss": "a loss"}
    return Part(GIVEN, name, args, description=described.get(name, "a schedule"))


def _model(width: int, hidden: int, train: bool = False) -> Part:
    return _part("_given_model", width, hidden, train)


def _run(draw: Draw, number: int, together: int, every: int, options: dict) -> Case:
    """Batches of which the later half teaches something else than is measured, so that the best weights come before
    the last ones; the rates differ from step to step."""
    factors = [1.0 if index < (number + 1) // 2 else -1.0 for index in range(number)]
    rates = [0.05 + 0.02 * draw.integer(0, 8) for _ in range(math.ceil(number / together))]
    accumulate = {"accumulate": together} if together > 1 else {}
    return _training(draw, factors, rates, every, accumulate | options)


def _there_and_back(draw: Draw) -> Case:
    """A run in which the first, last, best and worst weights and those after the batch of the lowest loss are five:
    three batches teach what is measured, eight the opposite, the last of them far more of it, and one the first again.
    """
    factors = [2.0] * 3 + [-1.0] * 7 + [-4.0, 2.0]
    return _training(draw, factors, [0.2 + 0.02 * draw.integer(0, 4) for _ in factors], 1, {})


def _training(draw: Draw, factors: list[float], rates: list[float], every: int, options: dict) -> Case:
    """Training by batches whose targets are so many times what is measured."""
    wanted = torch.nn.functional.normalize(draw.normal(2), dim=0)

    def batch(factor: float) -> torch.Tensor:
        x = draw.normal(4, 2)
        return torch.cat([x, factor * (x @ wanted)[:, None] + factor], 1)

    batches, held_out, model = [batch(one) for one in factors], [batch(1.0) for _ in range(3)], _model(2, 3)
    given = (model, _part("_given_loss"), batches, held_out, _part("_given_optimizer", model))
    return Case("train_loop", (*given, _part("_given_rate", rates), every), options, length=256, amplify=8)


def _trace(case: Case, subject) -> dict:
    """What the optimizer met at each step, how the model was called, and how it is left."""
    args = case.arguments(subject)
    subject.call("train_loop", *args, **case.kwargs)
    subject.bind(GIVEN, ["_given_trace"])
    return subject.call("_given_trace", args[0], args[4])


def _kept(case: Case, subject) -> bool:
    """Whether the best weights stay as they are when the model's change."""
    args = case.arguments(subject)
    result = subject.build("train_loop", *args, **case.kwargs)
    subject.bind(GIVEN, ["_given_kept"])
    return subject.call("_given_kept", args[0], result)


def _of_copy(*_) -> str:
    return "`best` changes when the model's weights change"


def _of_results(expected: tuple, actual) -> str:
    """What is wrong with the two results, by their names."""
    if not isinstance(actual, (tuple, list)) or len(actual) != 2:
        return "`train_loop` should return two things, `history` and `best`"
    for name, right, found, told in zip(
        ("`history`", "`best`"), expected, actual, (_of_history, _of_best), strict=True
    ):
        form = compare(right, found, FORM, name)
        if message := told(right, found) or (form and form.message):
            return message
    return ""


def _of_history(expected: list, actual) -> str:
    if not isinstance(actual, list) or not all(isinstance(one, (tuple, list)) and len(one) == 2 for one in actual):
        return "`history` should be a list of pairs (step, held-out loss)"
    measured, found = ([step for step, _ in one] for one in (expected, actual))
    if compare_values(measured, found):
        return f"`history` should have the steps {_listed(measured)}, not {_listed(found)}"
    for (step, loss), (_, other) in zip(expected, actual, strict=True):
        if compare_values(loss, other, NEAR):
            return f"in `history` the loss after step {step} is not the held-out loss"
    return ""


def _listed(numbers: list) -> str:
    return ", ".join(str(number) if isinstance(number, int) else "?" for number in numbers[:12]) or "none"


def _of_best(expected: dict, actual) -> str:
    if not isinstance(actual, dict):
        return "`best` should be a state_dict"
    if lacking := sorted(expected.keys() - actual.keys()):
        return f"`best` lacks {', '.join(f'`{name}`' for name in lacking)}"
    if wrong := [name for name in expected if compare_values(expected[name], actual[name], NEAR)]:
        return f"`best` does not have the weights with the lowest held-out loss (`{wrong[0]}` differs)"
    return ""


def _of_course(expected: dict, actual) -> str:
    if compare(expected, actual, FORM) or len(actual["steps"]) == 0:  # a box may say anything
        return "what the optimizer and the model went through cannot be read after the training"
    if len(actual["steps"]) != len(expected["steps"]):
        return f"the optimizer took {len(actual['steps'])} steps instead of {len(expected['steps'])}"
    for number, (right, found) in enumerate(zip(expected["steps"], actual["steps"], strict=True), start=1):
        for what, named in (("rates", "the learning rates"), ("norm", "the norm of the gradients")):
            if compare(right[what], found[what], NEAR):
                return f"at step {number} {named} should be {_short(right[what])}, not {_short(found[what])}"
    if actual["training"] is not True:
        return "after the training the model is not in train mode"
    if compare(expected["calls"], actual["calls"]):
        return "the model was called in another order, mode or number of times than training and measuring take"
    return "the weights after the last step are not what the steps should have made of them"


def _short(value) -> str:
    numbers = value if isinstance(value, list) else [value]
    return " and ".join(f"{number:.4g}" for number in numbers if isinstance(number, float))


def _calls(case: Case, subject) -> dict:
    """How the model was called while it was measured, and the mode in which it is left."""
    args = case.arguments(subject)
    subject.call("held_out_loss", *args)
    subject.bind(GIVEN, ["_given_calls"])
    return subject.call("_given_calls", args[0])


def _of_modes(expected: dict, actual) -> str:
    calls = actual.get("calls") if type(actual) is dict else None
    if type(calls) is not list or len(calls) != len(expected["calls"]):
        return "the model should be called once for each batch"
    if any(call[0] for call in calls):
        return "the model was in train mode while it was measured"
    if any(call[1] for call in calls):
        return "gradients were recorded while the model was measured"
    return "after measuring the model is not in train mode"


def bpe_train() -> list[Check]:
    """tokenizers.bpe_train"""

    def cases(draw: Draw):
        a, b, c = _letters(draw)
        yield Case("learn_bpe", ({}, 3))
        yield Case("learn_bpe", ({a + b: 1}, 0))
        yield Case("learn_bpe", ({a + b: 1}, 99))  # nothing is left to merge
        yield Case("learn_bpe", ({a: 1, b: 2}, 1))
        yield Case("learn_bpe", ({a * 4: 2, b + c: 5}, 3))  # overlapping pairs
        yield Case("learn_bpe", ({a * 5: 2, c + a * 3 + c: 1}, 6))  # an odd run: left to right shows
        yield Case("learn_bpe", ({c + b: 1, b + a: 1, a + c: 1}, 4))  # ties only
        yield Case("learn_bpe", ({a + b + c: 9, b + c + b: 2, c + a: 4}, 4))
        for letters, words, merges in [("ab", 3, 5), ("ab", 5, 8), ("abc", 5, 8), ("eßé", 4, 6), ("abcde", 8, 20)]:
            counts = {_word(draw, letters): draw.integer(1, 9) for _ in range(words)}
            yield Case("learn_bpe", (counts, merges))

    return function(cases, floats=False)


def bpe_apply() -> list[Check]:
    """tokenizers.bpe_apply"""

    def cases(draw: Draw):
        a, b, c = _letters(draw)
        yield Case("apply_bpe", (a + b, []))
        yield Case("apply_bpe", (a, [(a, END)]))
        yield Case("apply_bpe", (b + a, [(a, b), (a, END)]))
        yield Case("apply_bpe", (a + b, [(b, END), (a, b + END)]))
        yield Case("apply_bpe", (a * 5, [(a, a)]))  # an odd run: left to right shows
        yield Case("apply_bpe", (a * 4 + b, [(a, a), (a + a, a + a)]))
        yield Case("apply_bpe", (a + b + a + b, [(a, b)]))
        yield Case("apply_bpe", (a + b + c, [(b, c), (a, b), (a + b, c)]))  # the order of learning decides
        yield Case("apply_bpe", (a + b + c, [(a + b, c), (a, b)]))  # once, in order: no way back
        yield Case("apply_bpe", (a + b + c, [(a, b), (c, END), (b, c), (a, b + c)]))  # abc is known, but not as ab + c
        for letters, merges in [("ab", 3), ("ab", 5), ("abc", 6), ("eßé", 6), ("abcde", 12)]:
            yield Case("apply_bpe", (_word(draw, letters, 9), _merges(draw, letters, merges)))

    return function(cases, floats=False)


def _letters(draw: Draw) -> list[str]:
    """Three different letters in alphabetical order."""
    first, second, third = (draw.integer(0, 8) for _ in range(3))
    return [chr(ord("a") + place) for place in (first, first + 1 + second, first + second + 2 + third)]


def _word(draw: Draw, letters: str, longest: int = 6) -> str:
    return "".join(letters[i] for i in draw.integers(0, len(letters), draw.integer(1, longest + 1)).tolist())


def _merges(draw: Draw, letters: str, number: int) -> list[tuple[str, str]]:
    """Merges as some text may have taught them: each of symbols that there are, none twice."""
    symbols, merges = [*letters, END], []
    while len(merges) < number:
        left, right = (symbols[draw.integer(0, len(symbols))] for _ in range(2))
        if not left.endswith(END) and (left, right) not in merges:
            merges.append((left, right))
            symbols.append(left + right)
    return merges
