"""How much one search for an explanation may compute, counted and not timed: a busy machine then says the same."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import FrameType
from typing import Any

from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer as Reply
from autograder.checks.probe import Probe
from autograder.checks.properties._spy import spy_on
from autograder.sandbox.client import StudentError

# units of at most 10 µs: one of torch's operations, so many multiplications, so many lines of Python
MAX_UNITS = 100_000
MULTIPLICATIONS, LINES = 10_000, 50
LEAST_UNITS = 10  # units of a call that does nothing
UNITS_OF_CODE = 1.0  # of a character of two programs that are merged
UNITS_OF_MUTANT = 50.0  # of a change of one definition, which is compiled
LOOK_EVERY = 32  # questions whether to go on for one look at the clock, where nothing is called between them
GUARD_S = 20.0  # processor time, which only code that hardly ends reaches: many times what the units take


class ComputeBudget:
    """What the calls of programs may cost together: each as much as those of the reference to these questions do."""

    def __init__(self, reference: LocalSubject, replies: Sequence[Reply], units: int = MAX_UNITS) -> None:
        self._reference, self._replies = reference, replies
        self._asked: set[tuple[Hashable, int]] = set()
        self.refill(units)

    def refill(self, units: int) -> None:
        """As many units as this from now on, for another search with the same questions."""
        self.units = self.left = float(units)
        self._end, self._unlooked, self._late = time.thread_time() + GUARD_S, 0, False

    @property
    def may_go_on(self) -> bool:
        """Whether more may be tried."""
        if self._unlooked % LOOK_EVERY == 0:  # a look takes a microsecond, as long as the rest of a question
            self._late = time.thread_time() >= self._end
        self._unlooked += 1
        return self.left > 0 and not self._late

    @cached_property
    def units_of_call(self) -> float:
        """The units of a call, on average."""
        return sum(map(self._units_of, self._replies)) / max(len(self._replies), 1)

    def _units_of(self, reply: Reply) -> float:
        """The units of this call, which is counted once: each of several searches has a budget for the same ones."""
        known, key = reply.probe.known, ("units of a call", self._reference)
        if key not in known:
            known[key] = _count_units(LocalSubject(dict(self._reference.namespace)), reply)
        return float(known[key])

    def spend_calls(self, number: int = 1) -> None:
        """So many calls of a program are made; each may take long, so that the clock is read at the next question."""
        self.left -= number * self.units_of_call
        self._unlooked = 0

    def spend_call_of(self, program: Hashable, probe: Probe) -> None:
        """This program is asked this question; asked again it answers from memory, which costs nothing."""
        if (key := (program, id(probe))) not in self._asked:
            self._asked.add(key)
            self.spend_calls()

    def spend_code(self, *texts: str) -> None:
        """These programs are put together."""
        self.left -= UNITS_OF_CODE * sum(map(len, texts))

    def spend_mutant(self) -> None:
        """A program is changed in one place, and what it defines is made again."""
        self.left -= UNITS_OF_MUTANT

    def count_calls(self, subject: LocalSubject) -> LocalSubject:
        """The subject, of which each call is counted."""
        return _CountedSubject(subject, self)


class _CountedSubject(LocalSubject):
    def __init__(self, subject: LocalSubject, budget: ComputeBudget) -> None:
        super().__init__(subject.namespace)
        self._subject, self._budget = subject, budget

    def _named(self, name: str) -> Callable[..., Any]:
        self._budget.spend_calls()
        return self._subject._named(name)


def _count_units(subject: LocalSubject, reply: Reply) -> float:
    try:
        # a subject of its own to count: the question may count operations of the other one under the same names
        seen = spy_on(LocalSubject({}), lambda: reply.probe.ask(subject))
        with _lines_counted() as lines:  # alone: the spy has lines, too, and whatever is imported at first
            reply.probe.ask(subject)
    except StudentError:  # which is the right answer to this question
        return LEAST_UNITS
    return LEAST_UNITS + seen["calls"] + seen["work"] / MULTIPLICATIONS + len(lines) / LINES


@contextmanager
def _lines_counted() -> Iterator[list[None]]:
    """Collects an entry for each line of Python that this thread executes inside the block."""
    lines: list[None] = []

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        """Python's own protocol: the function that traces the frame."""
        if event == "line":
            lines.append(None)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(before)
