"""The library of properties. A unit's checks.py gives the draws; here is what is asked of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.checks.compare import Tolerance
from autograder.checks.probe import Case, Check, Draw, Probe, float_leaves, on_floats
from autograder.checks.traces import purity

Cases = Callable[[Draw], Iterable[Case]]
PARAMETERS = "parameter names and shapes"


def values(cases: Cases, name: str = "right values", weight: float = 3.0, core: bool = True) -> Check:
    """The same values as the reference, in float32. Core: the answers' shapes and types earn points of their own."""
    shapes = 2.0 if core else 0.0
    return Check(
        name, lambda draw, reference: [_value(case, reference) for case in cases(draw)], weight, core, shapes=shapes
    )


def edges(cases: Cases, name: str, weight: float = 2.0, later: str = "") -> Check:
    """Values and gradients where little is left: a row that may see nothing, a mean over nothing.

    What is right but for them loses at most a quarter of the points. `later`: which unit teaches it, where that is not
    this one; then it is said, and costs nothing.
    """

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """Two for each case."""
        drawn = list(cases(draw))
        return [_value(case, reference) for case in drawn] + [_gradient(case, draw, reference) for case in drawn]

    return Check(name, probes, 0.0 if later else weight, property="edges", graded=not later, later=later)


def contiguity(cases: Cases, weight: float = 1.0) -> Check:
    """The same values from inputs that are views with scattered memory."""

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """The reference reads the same scattered views."""
        return [_value(_scattered(case), reference) for case in cases(draw)]

    return Check("non-contiguous inputs", probes, weight, property="dtypes")


def precision(cases: Cases, dtype: torch.dtype, weight: float = 1.0) -> Check:
    """Inputs (and parameters) in another dtype: the result has it too, and is as exact as it allows."""
    name = f"{str(dtype).removeprefix('torch.')} in, {str(dtype).removeprefix('torch.')} out"
    asked = lambda draw, reference: [_value(_cast(case, dtype), reference) for case in cases(draw)]
    return Check(name, asked, weight, property="dtypes")


def gradients(cases: Cases, weight: float = 1.0) -> Check:
    """The vector-Jacobian product of every input and parameter, for a random vector; a NaN counts as wrong."""
    asked = lambda draw, reference: [_gradient(case, draw, reference) for case in cases(draw)]
    return Check("gradients", asked, weight, property="gradients")


def parameters(cases: Cases, weight: float = 1.0) -> Check:
    """The state dict has the names and shapes of the exercise; nothing else can be loaded."""
    return Check(
        PARAMETERS,
        lambda draw, _: [Probe(partial(_shapes, case), case) for case in cases(draw)],
        weight,
        True,
        property="shapes",
    )


def flow(cases: Cases, argument: int, name: str = "who sees whom", weight: float = 1.0) -> Check:
    """Which outputs move when one position (axis 1) of an argument is changed; batch rows must not see each other.

    Where it is wrong it is drawn, a row per output and a column per input: ● moves it, as it may; · does not;
    ▲ moves it and must not; ○ should move it and does not.
    """

    def probes(draw: Draw, _: Any) -> list[Probe]:
        """For each case a map bool [B·L,B,L]: which inputs move which outputs."""
        return [Probe(partial(_moved, case, argument), case) for case in cases(draw)]

    return Check(name, probes, weight, explain=_leak, draw=_map)


def function(cases: Cases, floats: bool = True, long: Cases | None = None) -> list[Check]:
    """All that is asked of a function. `floats`: its inputs are floating point, and it has gradients.

    `long`: cases beyond the end of any table, of which only the values are asked.
    """
    checks = [values(_both(cases, long)), purity(cases)]
    if floats:
        checks += [
            precision(cases, torch.float64),
            precision(cases, torch.bfloat16),
            gradients(cases),
            contiguity(cases),
        ]
    return checks


def _both(cases: Cases, long: Cases | None) -> Cases:
    return cases if long is None else lambda draw: [*cases(draw), *long(draw)]


def module(cases: Cases, floats: bool = True, long: Cases | None = None) -> list[Check]:
    """All that is asked of a class whose instances are loaded with drawn parameters. `long`: as in `function`."""
    checks = [parameters(cases), values(_both(cases, long)), gradients(cases), purity(cases)]
    if floats:
        checks += [precision(cases, torch.float64), precision(cases, torch.bfloat16), contiguity(cases)]
    return checks


def extremes(cases: Cases, weight: float = 1.0) -> Check:
    """Finite values and gradients where scores are enormous."""

    def probes(draw: Draw, reference: Any) -> list[Probe]:
        """Two for each case: its values, then whether values and gradients are finite."""
        drawn = list(cases(draw))
        return [_value(case, reference) for case in drawn] + [_finite(case, draw, reference) for case in drawn]

    return Check("enormous scores", probes, weight)


def _value(case: Case, reference: Any) -> Probe:
    far = spread(case, lambda c, _: c.value(reference))
    return Probe(case.value, case, replace(case.tolerance, spread=far), partial(_value, reference=reference))


def _cast(case: Case, dtype: torch.dtype) -> Case:
    return replace(case.to(lambda t: t.to(dtype)), dtype=dtype if case.init is not None else None)


def _gradient(case: Case, draw: Draw, reference: Any) -> Probe:
    cotangents = _cotangents(case, draw, reference)
    # a chain rule sums terms as large as the vector it starts from, and they may cancel: a key bias has gradient zero
    sizes = [*float_leaves(case.gradients(reference, cotangents)), *cotangents]
    scale = max((t.abs().max().item() for t in sizes if t.numel()), default=0.0)
    doubles = [seed.double() for seed in cotangents]
    far = spread(case, lambda c, nudge: c.gradients(reference, list(map(nudge, doubles))))
    tolerance = Tolerance(16 * case.length, case.amplify, case.eps, scale, far)

    def again(other: Case) -> Probe:  # the same vector for cases of one shape, however many were tried before
        """The same property of a smaller case, for shrinking."""
        return _gradient(other, Draw("the vector of a smaller case"), reference)

    return Probe(lambda subject: case.gradients(subject, cotangents), case, tolerance, again)


def spread(case: Case, answer: Callable[[Case, Callable], Any]) -> float:
    """How far the reference's answer moves when every input moves by one rounding error of its dtype.

    Any right answer may be that far off: sums that cancel, or a norm of two nearly equal numbers, amplify roundings.
    `answer` gets a case, and the function with which to move what else it brings.
    """
    given = float_leaves((case.args, case.kwargs)) or float_leaves(case.state or {})
    if not given:
        return 0.0
    eps = torch.finfo(case.dtype or given[0].dtype).eps
    generator = torch.Generator().manual_seed(0)

    def nudge(value: Tensor) -> Tensor:  # each number times 1 + eps or 1 - eps
        """Random signs; one generator for all, so that no two tensors move alike."""
        return value * (1 + eps * (2 * torch.randint(0, 2, value.shape, generator=generator) - 1))

    still = _cast(case, torch.float64)
    exact = float_leaves(answer(still, lambda value: value))
    gaps = []
    for _ in range(2):
        moved = answer(replace(still.to(nudge), state=on_floats(still.state, nudge)), nudge)
        gaps += [(one - other).abs() for one, other in zip(exact, float_leaves(moved), strict=True)]
    return max((gap[gap.isfinite()].max().item() for gap in gaps if gap.isfinite().any()), default=0.0)


def _cotangents(case: Case, draw: Draw, reference: Any) -> list[Tensor]:
    """A random vector; zero where the value is -inf or not graded."""
    seeds = []
    for out in float_leaves(case.value(reference)):
        seed = draw.normal(*out.shape).to(out.dtype).masked_fill(~out.isfinite(), 0.0)
        if case.keep is not None and out.shape[:-1] == case.keep.shape:
            seed = seed.masked_fill(~case.keep.unsqueeze(-1), 0.0)
        seeds.append(seed)
    return seeds


def _finite(case: Case, draw: Draw, reference: Any) -> Probe:
    """Gradients through a saturated softmax are only asked to be finite: their size is rounding."""
    cotangents = _cotangents(case, draw, reference)
    return Probe(lambda subject: on_floats(case.gradients(subject, cotangents), torch.isfinite), case)


def _scattered(case: Case) -> Case:
    return case.to(lambda t: t.transpose(0, -1).contiguous().transpose(0, -1) if t.dim() > 1 else t)


def _shapes(case: Case, subject: Any) -> dict[str, list[int]]:
    return {key: list(shape) for key, shape in replace(case, state=None).built(subject).state_shapes().items()}


def _moved(case: Case, argument: int, subject: Any) -> Any:
    """Bool [B_in*L_in, B_out, L_out]: does changing this input position change that output position?

    Where the outputs are not comparable floats, what can be no such tensor."""
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
        return "the result has another shape or type than it should"
    if (actual & ~expected).any():
        return "an output changes when an input that it must not see is changed"
    return "an output does not change when an input that it should see is changed"


def _map(expected: Tensor, actual: Any) -> tuple[str, ...]:
    if not isinstance(actual, Tensor) or actual.shape != expected.shape or actual.dtype != torch.bool:
        return ()
    pairs = (2 * expected.flatten(1).int() + actual.flatten(1).int()).T  # [outputs, inputs]
    return tuple("".join("·▲○●"[sign] for sign in row) for row in pairs.tolist())
