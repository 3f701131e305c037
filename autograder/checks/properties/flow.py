"""Information flow: which outputs depend on which inputs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.checks.probe import Case, Check, Draw, Probe
from autograder.checks.properties._probes import Cases


def flow(cases: Cases, argument: int, name: str = "information flow", weight: float = 1.0) -> Check:
    """Which outputs change when one position (axis 1) of an argument is changed; batch rows must be independent.

    A failure is drawn with a row per output and a column per input: ● depends on it, as it may; · does not;
    ▲ depends on it but must not; ○ should depend on it but does not.
    """

    def probes(draw: Draw, _: Any) -> list[Probe]:
        """For each case a map bool [B·L,B,L] of which inputs change which outputs."""
        return [Probe(partial(_moved, case, argument), case) for case in cases(draw)]

    return Check(name, probes, weight, explain=_leak, draw=_map)


def _moved(case: Case, argument: int, subject: Any) -> Any:
    """Bool [B_in*L_in, B_out, L_out]: whether changing this input position changes that output position.

    Where the outputs are not comparable floats, a value that equals no such tensor."""
    base = case.value(subject)
    if not isinstance(base, Tensor) or base.dim() != 3:
        return base
    if not base.is_floating_point():
        return None
    moved = []
    for row, column in torch.cartesian_prod(*map(torch.arange, case.args[argument].shape[:2])).tolist():
        changed = case.args[argument].clone()
        changed[row, column] = 1 - 2 * changed[row, column]
        args = (*case.args[:argument], changed, *case.args[argument + 1 :])
        other = replace(case, args=args).value(subject)
        if not isinstance(other, Tensor) or other.shape != base.shape or other.dtype != base.dtype:
            return None
        moved.append((other - base).abs().amax(-1) > 1e-4)
    return torch.stack(moved)


def _leak(expected: Tensor, actual: Any) -> str:
    if not isinstance(actual, Tensor) or actual.shape != expected.shape:
        return "the result has the wrong shape or type"
    if (actual & ~expected).any():
        return "an output depends on an input that it must not depend on"
    return "an output does not depend on an input that it should depend on"


def _map(expected: Tensor, actual: Any) -> tuple[str, ...]:
    if not isinstance(actual, Tensor) or actual.shape != expected.shape or actual.dtype != torch.bool:
        return ()
    pairs = (2 * expected.flatten(1).int() + actual.flatten(1).int()).T  # [outputs, inputs]
    return tuple("".join("·▲○●"[sign] for sign in row) for row in pairs.tolist())
