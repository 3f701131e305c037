"""Probes that several properties share: a value, a gradient, and how exact an answer can be."""

from __future__ import annotations

import operator
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.checks.compare import LazySpread, Tolerance
from autograder.checks.local import LocalHandle, LocalSubject
from autograder.checks.probe import Case, Draw, Probe, answer_with_size, float_leaves, on_floats

Cases = Callable[[Draw], Iterable[Case]]
MAX_BUILT = 16  # objects of references that a thread keeps


class CachingReference(LocalSubject):
    """The reference, for how far roundings move it: an object is built once and then gets other parameters, since a
    stack of layers takes longer to build than to run.

    Only where its arguments are numbers and the like, and as long as no call has left anything in the object. A thread
    has objects of its own, the last MAX_BUILT of all references together.
    """

    def __init__(self, reference: LocalSubject) -> None:
        super().__init__(reference.namespace)
        self._reference = reference

    def build_loaded(
        self, name: str, args: Sequence[Any], state: dict[str, Tensor] | None, dtype: torch.dtype | None = None
    ) -> LocalHandle:
        """As `LocalSubject.build_loaded`, perhaps the object of an earlier call with these parameters."""
        if state is None or not all(isinstance(one, int | float | str | None) for one in args):
            return super().build_loaded(name, args, state, dtype)
        key = self._reference, name, dtype, *((type(one), one) for one in args)  # 1 is not True
        kept = _kept.built.pop(key, None)
        if kept is None or _shapes(kept.entries) != _shapes(state) or kept.has_changed:
            kept = _BuiltObject(super().build_loaded(name, args, state, dtype))
        for entry, value in kept.entries.items():
            value.copy_(state[entry])
        _kept.built[key] = kept
        if len(_kept.built) > MAX_BUILT:
            _kept.built.popitem(last=False)
        return kept.handle


class _BuiltObject:
    """An object of the reference, with what it held before any call."""

    def __init__(self, handle: LocalHandle) -> None:
        self.handle = handle
        self.entries: dict[str, Tensor] = handle.module.state_dict()
        self._held = list(_attributes(handle.module))
        storages = {one.data_ptr() for one in self.entries.values()}  # what is copied anew for each call may change
        self._others = [one for one in self._held if isinstance(one, Tensor) and one.data_ptr() not in storages]
        self._versions = [one._version for one in self._others]

    @property
    def has_changed(self) -> bool:
        """Whether a call has left anything in the object, or changed a tensor that its state does not hold."""
        now = list(_attributes(self.handle.module))
        same = len(now) == len(self._held) and all(map(operator.is_, now, self._held))
        return not same or [one._version for one in self._others] != self._versions


def _shapes(state: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    return {name: value.shape for name, value in state.items()}


def _attributes(module: torch.nn.Module) -> Iterator[Any]:
    """Everything that a module and its parts hold, with the items of lists and dicts: buffers are in one."""
    for part in module.modules():
        for value in vars(part).values():
            yield value
            if isinstance(value, dict):
                yield from value.values()
            elif isinstance(value, list):
                yield from value


class _Kept(threading.local):
    """The objects of references that this thread has built, those used last at the end."""

    def __init__(self) -> None:
        self.built: OrderedDict[Any, _BuiltObject] = OrderedDict()


_kept = _Kept()


def caching_reference(reference: Any) -> Any:
    """The reference as a `CachingReference`; as it is where it runs on another device."""
    return CachingReference(reference) if type(reference) is LocalSubject else reference


def value_probe(case: Case, reference: Any) -> Probe:
    """Asks for the value of the case, which may differ as far as roundings of its inputs move the reference's."""
    far = LazySpread(lambda: spread(case, reference, lambda c, again, _: c.value(again)))

    def in_double() -> Probe:
        """The same question in float64."""
        probe = value_probe(cast(case, torch.float64), reference)
        return replace(probe, answer=probe.case.value(reference))

    again = partial(value_probe, reference=reference)
    return Probe(case.value, case, replace(case.tolerance, spread=far), again, in_double=in_double)


def cast(case: Case, dtype: torch.dtype) -> Case:
    return replace(case.to(lambda t: t.to(dtype)), dtype=dtype if case.init is not None else None)


def gradient_probe(case: Case, draw: Draw, reference: Any) -> Probe:
    """Asks for the gradients of arguments and parameters along one random vector, the same for every subject."""
    vectors = draw_cotangents(case, draw, reference)
    ask = lambda subject: case.gradients(subject, vectors)
    answer, size = answer_with_size(ask, reference)
    # the chain rule sums terms as large as the vector, and they may cancel: the gradient of a key bias is zero
    sizes = [*float_leaves(answer), *vectors]
    scale = max((t.abs().max().item() for t in sizes if t.numel()), default=0.0)
    doubles = [seed.double() for seed in vectors]
    far = LazySpread(
        lambda: spread(case, reference, lambda c, again, nudge: c.gradients(again, list(map(nudge, doubles))))
    )
    tolerance = Tolerance(16 * case.length, case.amplify, case.eps, scale, far)

    def again(other: Case) -> Probe:  # the same vector for cases of one shape, however many were tried before
        """The same property of a smaller case, for shrinking."""
        return gradient_probe(other, Draw("the vector of a smaller case"), reference)

    return Probe(ask, case, tolerance, again, size, answer, lambda: again(cast(case, torch.float64)))


def spread(case: Case, reference: Any, answer: Callable[[Case, Any, Callable[..., Any]], Any]) -> float:
    """How far the reference's answer is from the exact one when every input moves by one rounding error of its dtype.

    Any right answer may be that far off: sums that cancel, or a norm of two nearly equal numbers, amplify roundings.
    In float64 that shows what the inputs' roundings do. In the case's own dtype, where the inputs also stay where they
    are, it adds the roundings inside the reference: where its result cancels, an answer in float64 is the better one.
    `answer` gets a case, the reference, and the function that perturbs any other inputs.
    """
    given = float_leaves((case.args, case.kwargs)) or float_leaves(case.state or {})
    if not given:
        return 0.0
    eps = torch.finfo(case.dtype or given[0].dtype).eps
    generator = torch.Generator().manual_seed(0)

    def nudge(value: Tensor) -> Tensor:  # each number times 1 + eps or 1 - eps
        """Random signs from one generator, so that no two tensors are perturbed alike; the dtype stays."""
        signs = 2 * torch.randint(0, 2, value.shape, generator=generator) - 1
        return (value * (1 + eps * signs)).to(value.dtype)

    def stay(value: Tensor) -> Tensor:
        """The value itself."""
        return value

    still, again = cast(case, torch.float64), caching_reference(reference)
    exact = float_leaves(answer(still, again, stay))
    gaps = []
    for base, move in ((still, nudge), (still, nudge), (case, nudge), (case, nudge), (case, stay)):
        moved = answer(replace(base.to(move), state=on_floats(base.state, move)), again, move)
        gaps += [(one - other).abs() for one, other in zip(exact, float_leaves(moved), strict=True)]
    return max((gap[gap.isfinite()].max().item() for gap in gaps if gap.isfinite().any()), default=0.0)


def draw_cotangents(case: Case, draw: Draw, reference: Any) -> list[Tensor]:
    """A random vector; zero where the value is -inf or not graded."""
    seeds = []
    for out in float_leaves(case.value(reference)):
        seed = draw.normal(*out.shape).to(out.dtype).masked_fill(~out.isfinite(), 0.0)
        if case.graded_mask is not None and out.shape[:-1] == case.graded_mask.shape:
            seed = seed.masked_fill(~case.graded_mask.unsqueeze(-1), 0.0)
        seeds.append(seed)
    return seeds


def with_long(cases: Cases, long: Cases | None) -> Cases:
    """The cases, followed by those of `long`."""
    return cases if long is None else lambda draw: [*cases(draw), *long(draw)]
