"""Makes a failing case smaller while it fails in the same way: fewer numbers, then small integers.

A case is tried only if it still makes sense: the reference's answer is as finite as before and stays the same when
the inputs move by a rounding error (no ties), every known right answer agrees with it, and no further row of a mask
becomes empty. So a counter-example never shows a case that the exercise does not ask about.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, islice
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten

from autograder.checks.compare import RaisedError, agree, compare
from autograder.checks.probe import FATAL, Answer, Case, Finding, Probe, float_leaves, observe
from autograder.sandbox.work_time import WorkTime

CALLS = 40  # of the subject's code; a call of a class also builds it
TRIED, TRIED_OF_CLASS = 400, 100  # cases that are put to right answers; those of a class are built each time
SECONDS = 10.0  # of the processor in total, which only code that is slow on purpose needs
PAIRED = 12  # up to so many axes of one size are also cut in pairs
MAX_SIZE = 3  # the largest size and the largest number that is tried

Place = tuple[int, int]  # an argument, one of its axes


def shrink_counterexample(
    findings: Sequence[Finding], subject: Any, reference: Any, right: Sequence[Any] = ()
) -> list[Finding]:
    """The findings, one of them with a simpler case than the generated ones: the smallest that can be shrunk.

    `right`: other subjects known to be right. The verdict and the diagnosis still use the generated cases.
    """
    failed = [
        (finding, answer) for finding in findings for answer in finding.failed if answer.probe.with_case is not None
    ]
    if not failed:
        return list(findings)
    chosen, answer = min(failed, key=lambda pair: (not pair[0].check.core, *_simplicity(pair[1])))
    simpler = _Shrinker(subject, reference, right, _signed(chosen, answer.probe.case)).shrink(answer)
    return [replace(finding, shrunk=simpler) if finding is chosen else finding for finding in findings]


def _simplicity(answer: Answer) -> tuple[bool, int]:
    return answer.difference is None or answer.difference.where is None, answer.probe.case.size()


def simpler_questions(answer: Answer, reference: Any, right: Sequence[Any]) -> Iterator[tuple[Probe, Any]]:
    """The answer's question with some axes cut, in no particular order, each with the reference's answer.

    `right`: other subjects known to be right, which must agree with the reference.
    """
    if answer.probe.with_case is None:
        return
    shrinker = _Shrinker(None, reference, right, ())
    cases = list(islice(_smaller(answer.probe.case, shrinker._answers), CALLS))
    random.Random(0).shuffle(cases)
    for case in cases:
        try:
            probe, expected = shrinker._sensible(answer, case)
        except Exception:  # a case that makes no sense
            continue
        if probe is not None:
            yield probe, expected


@dataclass
class _Shrinker:
    subject: Any
    reference: Any
    right: Sequence[Any]
    free_signs: Sequence[int]
    tried: set[Any] = field(default_factory=set)
    calls: int = CALLS
    left: int = TRIED

    def __post_init__(self) -> None:
        self.time_left = WorkTime(SECONDS, self.subject)

    def shrink(self, answer: Answer) -> Answer:
        """The simplest answer found that fails in the same way, or this one if there is none."""
        if answer.probe.with_case is None or isinstance(answer.actual, RaisedError) and answer.actual.kind in FATAL:
            return answer
        self.left = TRIED if answer.probe.case.init is None else TRIED_OF_CLASS
        smaller, rounder = partial(_smaller, answers=self._answers), partial(_rounder, signed=self.free_signs)
        for candidates in (smaller, _lesser, rounder):  # round the numbers once few are left
            found: Answer | None = answer
            while found is not None:
                answer = found
                tried = (self._tried(answer, case) for case in candidates(answer.probe.case))
                found = next((other for other in tried if other is not None), None)
        return answer

    @property
    def _may_go_on(self) -> bool:
        """Whether another case may be tried: as many as are counted, or none for code that takes very long."""
        return self.left > 0 and not self.time_left.is_over

    def _answers(self, case: Case) -> bool:
        if not self._may_go_on:
            return False
        self.left -= 1
        try:
            case.value(self.reference)
        except Exception:  # any error on a case that makes no sense
            return False
        return True

    def _tried(self, answer: Answer, case: Case) -> Answer | None:
        key = _key(case)
        if self.calls <= 0 or not self._may_go_on or key in self.tried:
            return None
        self.tried.add(key)
        self.left -= 1
        try:
            probe, expected = self._sensible(answer, case)
            return None if probe is None else self._failing(answer, probe, expected)
        except Exception:  # an error on a nonsensical case must not cost the verdict
            return None

    def _sensible(self, answer: Answer, case: Case) -> tuple[Probe | None, Any]:
        """The question about this case with the reference's answer; None if the case makes no sense."""
        assert answer.probe.with_case is not None
        probe = answer.probe.with_case(case)
        expected = observe(self.reference, probe) if probe.answer is None else probe.answer
        agreed = all(agree(expected, other, probe.tolerance) for other in self._others(answer, probe, case))
        alike = _like(expected) == _like(answer.expected) and (_empty_rows(answer.probe.case) or not _empty_rows(case))
        kept = (
            case.graded_mask is None or isinstance(expected, Tensor) and expected.shape[:-1] == case.graded_mask.shape
        )
        return (probe if agreed and alike and kept else None), expected

    def _others(self, answer: Answer, probe: Probe, case: Case) -> Iterator[Any]:
        """What right answers give, and the reference where the inputs are moved by a rounding error."""
        assert answer.probe.with_case is not None
        for right in self.right:
            yield observe(right, probe)
        for seed in (0, 1):
            moved = answer.probe.with_case(_nudged(case, seed))
            yield observe(self.reference, moved) if moved.answer is None else moved.answer

    def _failing(self, answer: Answer, probe: Probe, expected: Any) -> Answer | None:
        self.calls -= 1
        actual = observe(self.subject, probe)
        if isinstance(actual, RaisedError) and actual.kind in FATAL:
            self.calls = 0  # the box is gone
            return None
        difference = compare(expected, actual, probe.tolerance)
        found = Answer(probe, expected, actual, difference)
        return found if difference is not None and _manner(found) == _manner(answer) else None


def _manner(answer: Answer) -> tuple[Any, bool]:
    """How the answer fails: with which exception, with wrong entries, or otherwise."""
    raised = answer.actual.type_name if isinstance(answer.actual, RaisedError) else None
    return raised, answer.difference is not None and answer.difference.where is not None


def _like(expected: Any) -> tuple[str, bool]:
    return type(expected).__name__, all(bool(leaf.isfinite().all()) for leaf in float_leaves(expected))


def _empty_rows(case: Case) -> bool:
    leaves = tree_flatten((case.args, case.kwargs))[0]
    masks = [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.dtype == torch.bool and leaf.dim()]
    return any(bool((~mask.any(-1)).any()) for mask in masks)


def _nudged(case: Case, seed: int) -> Case:
    generator = torch.Generator().manual_seed(seed)

    def nudge(value: Tensor) -> Tensor:
        """Moves a number by up to two rounding errors; a zero by up to 2 · eps²."""
        eps = torch.finfo(value.dtype).eps
        return value + eps * value.abs().clamp(min=eps) * torch.randint(-2, 3, value.shape, generator=generator)

    return case.to(nudge)


# -- the simpler cases that are tried, simplest first ------------------------------------------------------------------
def _smaller(case: Case, answers: Callable[[Case], bool]) -> Iterator[Case]:
    """Cases with every axis of one size, or some of them, cut to 1, 2 or 3 (at the start or at the end).

    `answers`: whether the reference accepts a case. An axis has a size of its own, and is not just broadcast when cut
    to 1, if it can also be longer than the others.
    """
    things = _things(case)
    axes = {(n, axis): size for n, thing in enumerate(things) for axis, size in enumerate(_sizes(thing))}
    for size in sorted({size for size in axes.values() if size > 1}, reverse=True):
        places = [place for place, other in axes.items() if other == size]
        for group in _groups(places):
            longer = [_longer(thing, n, group) for n, thing in enumerate(things)]
            if len(group) < len(places) and not answers(_with(case, longer)):
                continue
            for length in range(1, min(MAX_SIZE, size - 1) + 1):
                for end in (False, True):
                    yield _with(case, [_cut(thing, n, group, length, end) for n, thing in enumerate(things)])


def _groups(places: list[Place]) -> list[list[Place]]:
    """Groups of places: all, those with the same axis number, single ones, and pairs."""
    by_axis = [[place for place in places if place[1] == axis] for axis in sorted({axis for _, axis in places})]
    groups: list[list[Place]] = []
    pairs = [list(pair) for pair in combinations(places, 2)] if len(places) <= PAIRED else []
    for group in [places, *by_axis, *([place] for place in places), *pairs]:
        if group not in groups:
            groups.append(group)
    return groups


def _cut(thing: Any, number: int, group: list[Place], length: int, end: bool) -> Any:
    for place, axis in group:
        if place == number and isinstance(thing, Tensor):
            thing = thing.narrow(axis, thing.shape[axis] - length if end else 0, length).clone()
        elif place == number:
            thing = thing[-length:] if end else thing[:length]
    return thing


def _longer(thing: Any, number: int, group: list[Place]) -> Any:
    for place, axis in group:
        if place == number and isinstance(thing, Tensor):
            thing = torch.cat([thing, thing.narrow(axis, -1, 1)], axis)
        elif place == number:
            thing = thing + thing[-1:]
    return thing


def _lesser(case: Case) -> Iterator[Case]:
    """Cases with one of the plain integers made smaller, down to 2: one of anything shows little."""
    things = _things(case)
    for n, thing in enumerate(things):
        if type(thing) is int:
            for number in range(2, min(MAX_SIZE, thing - 1) + 1):
                yield _with(case, [*things[:n], number, *things[n + 1 :]])


def _rounder(case: Case, signed: Sequence[int]) -> Iterator[Case]:
    """Cases with small integers for the floats in `signed` places, first without zeros, or else with few digits."""
    things = _things(case)
    for group in [signed, *([n] for n in signed)] if len(signed) > 1 else [signed] * bool(signed):
        for way in (_whole, torch.round, partial(torch.round, decimals=1)):
            new = [_round(thing, way) if n in group else thing for n, thing in enumerate(things)]
            if any(not torch.equal(things[n], new[n]) for n in group):
                yield _with(case, new)


def _signed(finding: Finding, case: Case) -> list[int]:
    """The arguments that are floats of both signs; an argument with only one sign may have to keep it."""

    def both(thing: Any) -> bool:
        """Whether one generated value of the argument has entries of both signs."""
        return bool((thing > 0).any() and (thing < 0).any())

    drawn = [_things(answer.probe.case) for answer in finding.answers if len(answer.probe.case.args) == len(case.args)]
    floats = [n for n, one in enumerate(_things(case)) if _float(one)]
    return [n for n in floats if any(n < len(things) and _float(things[n]) and both(things[n]) for things in drawn)]


def _round(value: Tensor, way: Callable[[Tensor], Tensor]) -> Tensor:
    """Rounds all but small integers, to at most 3 in size: tolerances depend on the size of the original inputs."""
    if bool((value == value.round()).all() and (value.abs() <= MAX_SIZE).all()):
        return value
    return way(value).clamp(-MAX_SIZE, MAX_SIZE) + 0.0  # no -0.


def _whole(value: Tensor) -> Tensor:
    return torch.where(value < 0, -1.0, 1.0).to(value.dtype) * value.abs().round().clamp(min=1.0)


def _float(thing: Any) -> bool:
    return isinstance(thing, Tensor) and thing.is_floating_point()


def _key(case: Case) -> Any:
    return repr([(one.shape, one.tolist()) if isinstance(one, Tensor) else one for one in _things(case)])


def _things(case: Case) -> list[Any]:
    """Everything that can be cut: arguments, keyword arguments, and the mask of graded positions."""
    return [*case.args, *case.kwargs.values(), case.graded_mask]


def _sizes(thing: Any) -> list[int]:
    return list(thing.shape) if isinstance(thing, Tensor) else [len(thing)] if isinstance(thing, (list, str)) else []


def _with(case: Case, things: list[Any]) -> Case:
    many = len(case.args)
    kwargs = dict(zip(case.kwargs, things[many:-1], strict=True))
    return replace(case, args=tuple(things[:many]), kwargs=kwargs, graded_mask=things[-1])
