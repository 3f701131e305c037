"""Trainability: a few steps of training in which the box only computes outputs and gradients.

The grader computes the loss and the updates, the latter without torch.optim, which would load torch's compiler: that
takes longer than a check. From parameters that the grader generates, the losses must equal the reference's: state kept
from an earlier call, or a change of its own parameters, does not show in a single call. From its own initial values,
the answer must learn about as well as the reference does from several seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.checks.compare import LazySpread, Tolerance
from autograder.checks.probe import Case, Check, Draw, Probe, on_floats
from autograder.checks.properties._probes import spread

STEPS, RATE = 6, 0.1  # gradient descent from the grader's parameters
OWN_STEPS, OWN_RATE = 8, 0.05  # Adam, which depends little on the scale of the initialisation
SEEDS = 3  # seeds of the reference's own initialisation, and further ones for an answer that fails with the first
SHARE = 0.4  # required share of the reference's smallest fall, since other initialisations are right too
SEED = """
import torch


def given_seed(number):
    torch.manual_seed(number)
"""

Loss = Callable[[Tensor], Tensor]  # loss of an output, known only to the grader
Weights = dict[str, Tensor]


class GradientDescent:
    """Weights minus `rate` times their gradients."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def step(self, weights: Weights, gradients: Weights) -> Weights:
        """The new weights of those that have a gradient."""
        return {name: weights[name] - self.rate * gradient for name, gradient in gradients.items()}


class Adam:
    """Adam with the constants of its paper (Kingma and Ba, arXiv:1412.6980)."""

    betas, eps = (0.9, 0.999), 1e-8

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.moments: dict[str, tuple[int, Tensor, Tensor]] = {}  # steps, mean and mean square of a weight's gradients

    def step(self, weights: Weights, gradients: Weights) -> Weights:
        """The new weights of those that have a gradient."""
        return {name: self._moved(name, weights[name], gradient) for name, gradient in gradients.items()}

    def _moved(self, name: str, weight: Tensor, gradient: Tensor) -> Tensor:
        zero = torch.zeros_like(weight)
        steps, mean, square = self.moments.get(name, (0, zero, zero))
        mean = self.betas[0] * mean + (1 - self.betas[0]) * gradient
        square = self.betas[1] * square + (1 - self.betas[1]) * gradient * gradient
        self.moments[name] = steps + 1, mean, square
        unbiased = [value / (1 - beta ** (steps + 1)) for value, beta in zip((mean, square), self.betas, strict=True)]
        return weight - self.rate * unbiased[0] / (unbiased[1].sqrt() + self.eps)


Optimiser = GradientDescent | Adam


def squared_error(wanted: Tensor) -> Loss:
    """Mean squared distance from `wanted`, of the output's shape."""
    return lambda out: F.mse_loss(out, wanted.to(out.dtype))


def cross_entropy(wanted: Tensor, pad_id: int) -> Loss:
    """Mean cross-entropy of logits [B,T,V] over the positions of `wanted` [B,T] that are not padding."""
    return lambda out: F.cross_entropy(out.flatten(0, 1), wanted.flatten(), ignore_index=pad_id)


def trains(cases: Callable[[Draw], Iterator[tuple[Case, Loss]]], weight: float = 1.0, own: bool = False) -> Check:
    """The losses of a few steps equal the reference's; with `own` the loss must also fall from its own initial values.

    `cases` gives cases of classes, each with the loss of its output.
    """

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """One probe for each case, or two where the class must also learn from its own initial values."""
        found = []
        for case, loss in cases(draw):
            found.append(_training_probe(case, loss, reference))
            if own:
                found.append(_learning_probe(case, loss, draw.integer(0, 2**31), reference))
        return found

    return Check("trains in a few steps", probes, weight, explain=_explain)


def _training_probe(case: Case, loss: Loss, reference: Any) -> Probe:
    shape = case.value(reference).shape

    def losses(case: Case, subject: Any) -> Tensor | None:
        """float [STEPS + 1], from the case's state in its dtype; None if an answer has no loss."""
        start = on_floats(case.state, lambda value: value.to(case.dtype or value.dtype))
        return _losses(case.build(subject), case, start, loss, shape, GradientDescent(RATE), STEPS)

    far = LazySpread(lambda: spread(case, reference, lambda moved, again, _: losses(moved, again)))
    return Probe(partial(losses, case), case, Tolerance(STEPS * case.length, case.amplify, spread=far))


def _learning_probe(case: Case, loss: Loss, seed: int, reference: Any) -> Probe:
    shape = case.value(reference).shape

    def fall(seed: int, subject: Any) -> float:
        """The share of the loss that a few steps from its own start remove; none if that cannot be computed."""
        subject.bind(SEED, ["given_seed"])
        with torch.random.fork_rng(devices=[]):
            subject.call("given_seed", seed)
            module = replace(case, state=None).build(subject)
        state = module.method("state_dict")
        if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
            return 0.0
        losses = _losses(module, case, state, loss, shape, Adam(OWN_RATE), OWN_STEPS)
        return 0.0 if losses is None else float(1 - losses[-1] / losses[0])

    seeds = range(seed + 1, seed + SEEDS + 1)
    enough = SHARE * min(fall(number, reference) for number in seeds)
    # a start that is right may be an unlucky one: Glorot's and He's fail at one seed in twelve
    return Probe(lambda subject: any(fall(number, subject) >= enough for number in (seed, *seeds)), case)


def _losses(
    module: Any,
    case: Case,
    start: dict[str, Tensor],
    loss: Loss,
    shape: torch.Size,
    optimiser: Optimiser,
    steps: int,
) -> Tensor | None:
    """The loss before each step and after the last [steps + 1]; None if an answer has no loss, or no parameter."""
    state = {name: value.detach().clone() for name, value in start.items()}
    weights = {name: value for name, value in state.items() if value.is_floating_point()}
    if not weights:
        return None
    gradients: Weights = {}
    losses = []
    for step in range(steps + 1):
        value = module(*case.args)
        value = value if case.select is None else case.select(value)
        if not isinstance(value, Tensor) or value.shape != shape or not value.is_floating_point():
            return None
        out = value.detach().requires_grad_()
        losses.append(loss(out))
        if step == steps:
            break
        cotangent = torch.autograd.grad(losses[-1], out)
        for name, grad in module.vjp(None, case.args, {}, list(cotangent))[2].items():
            if name in weights and isinstance(grad, Tensor) and grad.shape == weights[name].shape:
                gradients[name] = grad.to(weights[name].dtype)
        weights |= optimiser.step(weights, gradients)
        module.load(state | weights)
    return torch.stack(losses).detach()


def _explain(expected: Any, actual: Any) -> str:
    if expected is True:
        return "in a few training steps from its own initial values the loss hardly falls"
    if not isinstance(actual, Tensor) or actual.shape != expected.shape:
        return "after a few training steps the loss cannot be computed any more"
    if torch.equal(actual, actual[:1].expand_as(actual)):
        return "in a few training steps the loss does not change: the result does not follow the parameters"
    return "in a few training steps from the same parameters the loss is not what it should be"
