"""A property for anybody's checks.py: `from autograder.checks import linear`."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from autograder.checks import Case, Check, Draw, Probe


def linear(cases: Any, weight: float = 1.0) -> Check:
    """f(2x + y) = 2 f(x) + f(y), for functions of one tensor. cases: draw -> cases, as every property takes them."""

    def holds(case: Case, other: torch.Tensor, subject: Any) -> bool:
        (x,) = case.args
        call = lambda value: subject.call(case.symbol, value)
        return torch.allclose(call(2 * x + other), 2 * call(x) + call(other), atol=1e-4)

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        return [Probe(partial(holds, case, draw.normal(*case.args[0].shape)), case) for case in cases(draw)]

    told = lambda expected, actual: "a sum of inputs does not give the sum of their results"
    return Check("linear", probes, weight, explain=told)
