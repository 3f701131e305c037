"""A term, simulated with simpy: when students press Check and submit, and how long they wait for `autograder serve`.

The model follows the service: it takes a batch, grades it on its workers, writes each record in a single writer,
makes the pages, and polls again. Service times are drawn from measured ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import simpy

from autograder.serve.command import SUBMISSIONS_PER_WORKER
from bench.scale.measure import ServiceTimes

HOUR, WEEK = 3600.0, 7 * 24 * 3600.0


def _assumed(value: Any, meaning: str) -> Any:
    return field(default=value, metadata={"help": meaning})


@dataclass(frozen=True)
class SimulatedTerm:
    """How a class works; these are assumptions, since no records of such a term are available.

    `rush_hours` is the mean of an exponential distribution; `resubmissions` and `checks` are means of Poisson
    distributions.
    """

    students: int = _assumed(10_000, "number of students")
    assignments: int = _assumed(12, "number of assignments, one a week")
    resubmissions: float = _assumed(0.8, "mean number of further submissions of a student to an assignment")
    rush: float = _assumed(0.6, "share of the submissions that arrive in the last day")
    rush_hours: float = _assumed(3.0, "mean hours between those submissions and the deadline")
    checks: float = _assumed(12.0, "mean number of presses of Check before a submission")
    check_gap: float = _assumed(90.0, "mean seconds between two presses of Check")
    seed: int = _assumed(0, "seed of the simulation")

    def submissions(self) -> np.ndarray:
        """Sorted times (number,) in seconds since the term began; the deadlines are at each week's end."""
        draw, found = np.random.default_rng(self.seed), []
        for week in range(self.assignments):
            number = int((1 + draw.poisson(self.resubmissions, self.students)).sum())
            before = draw.uniform(0, WEEK, number)
            late = draw.random(number) < self.rush
            before[late] = np.minimum(draw.exponential(self.rush_hours * HOUR, late.sum()), 24 * HOUR)
            found.append((week + 1) * WEEK - before)
        return np.sort(np.concatenate(found))

    def check_requests(self) -> np.ndarray:
        """Sorted times (number,) of presses of Check in the last week."""
        draw = np.random.default_rng(self.seed + 1)
        ends = self.submissions()
        ends = ends[ends > (self.assignments - 1) * WEEK]
        each = draw.poisson(self.checks, len(ends))
        gaps = draw.exponential(self.check_gap, each.sum())
        before = np.concatenate([[0.0], np.cumsum(gaps)])[np.cumsum(each) - each]  # the gaps of submissions before
        within = np.cumsum(gaps) - np.repeat(before, each)
        return np.sort(np.repeat(ends, each) - within)


@dataclass
class WaitingTimes:
    """For a number of servers: seconds from request to result, the longest queue, and the utilisation."""

    servers: int
    waits: np.ndarray
    longest_queue: int
    busy: float
    writes_a_minute: int = 0
    queue: list[tuple[float, int]] = field(default_factory=list)

    def quantile(self, share: float) -> float:
        """A quantile of the waiting times, in seconds."""
        return float(np.quantile(self.waits, share))


class ServiceModel:
    """`autograder serve` on a machine with as many cores as workers."""

    def __init__(self, times: ServiceTimes, workers: int, arrivals: Sequence[float], every: float, seed: int) -> None:
        self.env, self.workers, self.every = simpy.Environment(), workers, every
        self.batch, self.times, self._draw = (
            max(16, SUBMISSIONS_PER_WORKER * workers),
            times,
            np.random.default_rng(seed),
        )
        self.arrivals, self._next = arrivals, 0
        self.line: deque[float] = deque()
        self.waits: list[float] = []
        self.queue: list[tuple[float, int]] = []
        self.writes: list[float] = []
        self._busy = 0.0
        self._cores, self._writer = simpy.Resource(self.env, workers), simpy.Resource(self.env, 1)

    def run(self) -> WaitingTimes:
        """Runs until every submission has its page."""
        self.env.run(self.env.process(self._service()))
        minutes = np.unique(np.floor(np.array(self.writes) / 60), return_counts=True)[1]
        deepest = max(length for _, length in self.queue)
        busy = self._busy / (self.workers * self.env.now)
        return WaitingTimes(self.workers, np.array(self.waits), deepest, busy, int(minutes.max()), self.queue)

    def _service(self) -> Generator[Any, Any, None]:
        while self._next < len(self.arrivals) or self.line:
            self._collect()
            if not self.line:  # polls that find nothing are left out
                until = self.arrivals[self._next] - self.env.now
                yield self.env.timeout(until + self._draw.uniform(0, self.every))
                continue
            yield self.env.timeout(self._one(self.times.look))
            self._collect()
            self.queue.append((self.env.now, len(self.line)))
            some = [self.line.popleft() for _ in range(min(self.batch, len(self.line)))]
            yield self.env.all_of([self.env.process(self._grade()) for _ in some])
            yield self.env.all_of([self.env.process(self._give_back(since)) for since in some])

    def _collect(self) -> None:
        while self._next < len(self.arrivals) and self.arrivals[self._next] <= self.env.now:
            self.line.append(self.arrivals[self._next])
            self._next += 1

    def _on_core(self, seconds: float) -> Generator[Any, Any, None]:
        with self._cores.request() as core:
            yield core
            yield self.env.timeout(seconds)
            self._busy += seconds

    def _grade(self) -> Generator[Any, Any, None]:
        yield from self._on_core(self._one(self.times.grade))
        with self._writer.request() as turn:
            yield turn
            yield self.env.timeout(self._one(self.times.write))
            self.writes.append(self.env.now)

    def _give_back(self, since: float) -> Generator[Any, Any, None]:
        yield from self._on_core(self._one(self.times.feedback))
        self.waits.append(self.env.now - since)

    def _one(self, sample: Sequence[float]) -> float:
        return float(sample[int(self._draw.integers(len(sample)))])


def serve(term: SimulatedTerm, times: ServiceTimes, workers: int, every: float = 5.0) -> WaitingTimes:
    """The term's submissions with this many workers; waits are from submitting to the page."""
    return ServiceModel(times, workers, term.submissions().tolist(), every, term.seed).run()


def check(term: SimulatedTerm, times: ServiceTimes, cores: int) -> WaitingTimes:
    """The last week's presses of Check on the Hub's cores, first come, first served."""
    env, draw = simpy.Environment(), np.random.default_rng(term.seed + 2)
    shared, waits, queue = simpy.Resource(env, cores), list[float](), list[tuple[float, int]]()
    presses = term.check_requests()
    costs = draw.choice(times.check, len(presses))

    def press(cost: float) -> Generator[Any, Any, None]:
        pressed = env.now
        with shared.request() as core:
            queue.append((env.now, len(shared.queue)))
            yield core
            yield env.timeout(cost)
        waits.append(env.now - pressed)

    def week() -> Generator[Any, Any, None]:
        for at, cost in zip(presses - presses[0], costs, strict=True):
            yield env.timeout(at - env.now)
            env.process(press(float(cost)))

    env.process(week())
    env.run()
    longest = max(length for _, length in queue)
    return WaitingTimes(cores, np.array(waits), longest, float(costs.sum()) / (cores * env.now), queue=queue)
