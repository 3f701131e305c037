"""A clock that no code in a box can move, and the comparison of two answers' times by it.

Time is the processor time of all the box's processes, which the kernel counts outside of it. The reference runs in a
box of the same kind on the same machine, in turn with the student's code. Each turn has new inputs and a checked
answer, so that neither a cached nor a late result helps; what is done between two turns is charged to the next one.
How busy the machine is hardly changes a ratio of processor times; where the ratios scatter around the limit, there is
no verdict.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from autograder.checks.compare import agree
from autograder.checks.device import DeviceSubject
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Case, NotRun
from autograder.sandbox import nvidia
from autograder.sandbox.client import SandboxClient

WARM_UPS = 2  # turns that are checked, but not counted: one-time costs
# (turns, k): the k-th ratios from both ends bound the median, wrong once in a hundred times
LOOKS = ((8, 1), (16, 3), (32, 9))
SURE_TURNS, SURELY = 3, 4.0  # after so many turns, all of them so many times above the limit, nothing is in doubt
UNASKED = 4.0  # how often the time is charged that a box uses while it isn't asked
LEAST_S = 0.002  # of a reference's turn: below it, sending the inputs takes as long as the work


class Clock(Protocol):
    """Seconds that a subject uses."""

    def lap(self) -> float:
        """The seconds since the last lap ended."""

    def resume(self) -> None:
        """Called before a turn."""


class BoxClock:
    """Processor seconds of a box: of every process and thread, also those that have ended.

    Right code does nothing between two turns. What is used there is charged to the next lap, and more than once, since
    it takes memory and caches away from the reference, whose turn it is.
    """

    def __init__(self, box: SandboxClient) -> None:
        self.box, self.seen, self.idle_s = box, box.usage().cpu_s, 0.0

    def resume(self) -> None:
        """The turn begins now."""
        self.idle_s += self._since()

    def lap(self) -> float:
        """See `Clock`."""
        charged, self.idle_s = UNASKED * self.idle_s, 0.0
        return charged + self._since()

    def _since(self) -> float:
        """A count that falls behind the last one, as where processes come and go, is caught up later."""
        before, self.seen = self.seen, max(self.seen, self.box.usage().cpu_s)
        return self.seen - before


class WallClock:
    """Seconds on the grader's own clock, for a box that works on a card, whose time nothing counts by process.

    An answer has left the card when its bytes are here, whatever streams and events the code in the box makes of it.
    """

    def __init__(self) -> None:
        self.resume()

    def resume(self) -> None:
        """The turn begins now."""
        self.begun = time.monotonic()

    def lap(self) -> float:
        """See `Clock`."""
        return time.monotonic() - self.begun


class ProcessClock(WallClock):
    """Processor seconds of this process, for our own answers."""

    def resume(self) -> None:
        """The turn begins now."""
        self.begun = time.process_time()

    def lap(self) -> float:
        """See `Clock`."""
        return time.process_time() - self.begun


@dataclass
class Timing:
    """The turns so far. `ratios`: the subject's seconds over the reference's, of each turn."""

    at_most: float
    ratios: list[float] = field(default_factory=list)
    warm_ups: list[float] = field(default_factory=list)
    budget_s: float = math.inf
    spent_s: float = 0.0  # by both, warm-ups included

    @property
    def bounds(self) -> tuple[float, float]:
        """An interval that has the median ratio, wrong once in a hundred; (0, inf) after too few turns."""
        count = len(self.ratios)
        place = max((k for turns, k in LOOKS if turns <= count), default=0)
        ordered = sorted(self.ratios)
        return (ordered[place - 1], ordered[-place]) if place else (0.0, math.inf)

    @property
    def ratio(self) -> float:
        """The median."""
        ordered = sorted(self.ratios or self.warm_ups)
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2

    @property
    def is_within(self) -> bool | None:
        """Whether the median is at most `at_most`; None where that is in doubt."""
        if self._is_surely_above(self.ratios if self.spent_s <= self.budget_s else self.warm_ups + self.ratios):
            return False
        least, most = self.bounds
        return True if most <= self.at_most else False if least > self.at_most else None

    def _is_surely_above(self, ratios: list[float]) -> bool:
        """Code that is so slow that the budget is gone after two turns is not in doubt either; after one it is, since
        that turn may have had one-time costs."""
        enough = SURE_TURNS if self.spent_s <= self.budget_s else 2
        return len(ratios) >= enough and min(ratios) > SURELY * self.at_most

    @property
    def is_over_budget(self) -> bool:
        """Whether the budget allows no further turn. It allows the first look, unless nothing is in doubt before."""
        return self.spent_s > self.budget_s and (len(self.ratios) >= LOOKS[0][0] or self.is_within is False)

    @property
    def is_decided(self) -> bool:
        """Whether no further turn is needed. Looks are few: one at each turn would be wrong more often."""
        count = len(self.ratios)
        return self.is_within is not None and (count in dict(LOOKS) or count < LOOKS[0][0])


class WrongAnswer(Exception):
    """An answer of a turn differs from the reference's."""


def time_against_reference(
    subject: Any, case: Callable[[int], Case], reference: Any, *, at_most: float, budget_s: float
) -> Timing:
    """The subject's time and the reference's, turn by turn, until it is clear on which side of `at_most` their ratio
    is, or both have used `budget_s` processor seconds, or the last of LOOKS was taken.

    `case(turn)`: inputs that no other turn has. Raises WrongAnswer; NotRun where nothing counts the time; StudentError
    if the subject's code fails; ValueError if the reference takes too little time to be measured.
    """
    timing, reference_s = Timing(at_most, budget_s=budget_s), list[float]()
    with _comparable_reference(subject, reference) as known:
        clocks = [clock_of(known), clock_of(subject)]
        for turn in range(WARM_UPS + LOOKS[-1][0]):
            laps = _turn(case(turn), (known, subject), clocks, turn % 2 == 1)
            timing.spent_s += sum(laps)
            (timing.ratios if turn >= WARM_UPS else timing.warm_ups).append(laps[1] / max(laps[0], 1e-9))
            reference_s += [laps[0]] if turn >= WARM_UPS else []
            if len(reference_s) == SURE_TURNS and max(reference_s) < LEAST_S:
                raise ValueError(
                    f"a call of the reference takes {1000 * max(reference_s):.2g} ms, and {1000 * LEAST_S:g} ms "
                    "are needed for a time to be told: draw larger inputs in the case of `speed`"
                )
            if timing.is_decided or timing.is_over_budget:
                break
    return timing


def _turn(case: Case, subjects: tuple[Any, Any], clocks: list[Clock], student_first: bool) -> tuple[float, float]:
    """The seconds of the reference and of the subject for one case. Raises WrongAnswer."""
    answers, laps = {}, {}
    for place in (1, 0) if student_first else (0, 1):
        clocks[place].resume()
        answers[place] = case.value(subjects[place])
        laps[place] = clocks[place].lap()
    if not agree(answers[0], answers[1], case.tolerance):
        raise WrongAnswer
    return laps[0], laps[1]


def clock_of(subject: Any) -> Clock:
    """The clock for a subject where it runs. Raises NotRun if none can be trusted there."""
    if isinstance(subject, DeviceSubject):
        return WallClock()
    if isinstance(subject, LocalSubject):
        return ProcessClock()
    if not subject.is_timed:
        raise NotRun(f"nothing outside the {subject.backend.name} box counts its processor time")
    if subject.backend.cards and nvidia.binds(os.environ.get("CUDA_VISIBLE_DEVICES")):
        raise NotRun("a box can use a card here, whose time is nobody's processor time: set CUDA_VISIBLE_DEVICES= ")
    return BoxClock(subject)


@contextmanager
def _comparable_reference(subject: Any, reference: Any) -> Iterator[Any]:
    """The reference where the subject runs: in this process, or in another box of the same backend and limits."""
    local = reference.subject if isinstance(reference, DeviceSubject) else reference
    box = subject.subject if isinstance(subject, DeviceSubject) else subject
    if not isinstance(box, SandboxClient):
        yield reference
        return
    with reference_box(box, local) as known:
        known.keep_freed_memory()
        box.keep_freed_memory()
        if isinstance(subject, DeviceSubject):
            known.start_device(subject.device)
            yield DeviceSubject(known, subject.device)
        else:
            yield known


@contextmanager
def reference_box(student: SandboxClient, reference: LocalSubject) -> Iterator[SandboxClient]:
    """A box like the student's with the reference in it, and none of the student's code. Raises LookupError if the
    reference's source is not known."""
    program, names = reference.program()
    limits = replace(student.limits, wall_s=2 * student.limits.wall_s)  # the student's box ends first, if one does
    with SandboxClient(student.backend, limits) as known:
        known.bind(program, names)
        yield known
