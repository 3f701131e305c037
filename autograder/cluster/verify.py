"""`autograder verify`: grades submissions again that are graded already, in other processes, and compares."""

from __future__ import annotations

import re
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from nbgrader.api import Gradebook
from rich.console import Console

from autograder.cluster import pool as pools
from autograder.cluster.bundle import Key
from autograder.cluster.changes import MIN_CHANGE, Change, Verdicts, changes, current_verdicts
from autograder.cluster.course import BadCourse, Course, Submission, settings_of, students_in
from autograder.cluster.pool import GradingTask, Pool
from autograder.cluster.records import Records
from autograder.nbgrader import timestamps
from tfkit_course.interrupt import Interrupt
from tfkit_course.small_file import read_small

SAMPLE = 20  # submissions of an assignment, if nobody says how many
NUMBERS = re.compile(r"\d+(\.\d+)?(e-?\d+)?")
STOPPED = 130


@dataclass(frozen=True)
class VerifyOptions:
    """The options of the command line; without an assignment, all that have graded submissions."""

    course: Path
    assignment: str | None = None
    sample: int | None = None  # by default SAMPLE; of what an earlier release graded, all
    upgraded: bool = False  # of these alone: who would gain or lose by grading again
    workers: int | None = None
    scheduler: str | None = None
    device: str | None = None


@dataclass
class SecondGrading:
    """How many verdicts were graded again and how many of them are equal, and what differs."""

    assignment: str
    submissions: int = 0
    verdicts: int = 0
    differences: list[Change] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # of grading again
    graders: dict[str, tuple[str, str]] = field(default_factory=dict)  # student → the workers, where both are known

    @property
    def equal(self) -> int:
        """The number of verdicts that are the same."""
        return self.verdicts - len(self.differences)

    def lines(self) -> Iterator[str]:
        """A line for each difference and failure, then the sum."""
        yield from (f"✗ {difference}" for difference in self.named_differences())
        yield from (f"! {failure}" for failure in self.failures)
        yield self.summary

    def named_differences(self) -> Iterator[str]:
        """Each with student, exercise, points and checks, and the workers that graded it."""
        for one in self.differences:
            why = f" ({'; '.join(one.checks)})" if one.checks else ""
            workers = self.graders.get(one.student)
            who = f", first graded by {workers[0]}, then by {workers[1]}" if workers else ""
            yield f"{one.student} · {self.assignment} · {one.exercise}: {one.before} → {one.after}{why}{who}"

    @property
    def summary(self) -> str:
        """How many verdicts of how many submissions were equal."""
        return (
            f"{self.assignment}: {self.equal} of {self.verdicts} verdicts equal when graded again "
            f"({self.submissions} submissions{self._where})"
        )

    @property
    def _where(self) -> str:
        """Whether other workers graded the second time, where that is known."""
        same = sum(first == again for first, again in self.graders.values())
        if same:
            return f", {same} by the worker that graded them first: there was no other"
        return ", by other workers" if self.graders else ""


class RegradePreview(SecondGrading):
    """What grading with the checks of this release would change, of what was graded with others."""

    def lines(self) -> Iterator[str]:
        """A line for each exercise whose points would change, then how many students would gain and lose."""
        self.differences = [one for one in self.differences if one.before != one.after]  # a check may have a new name
        yield from super().lines()

    @property
    def summary(self) -> str:
        """How many students would gain, lose, and wait for a person."""
        sums, waits = defaultdict[str, float](float), set[str]()
        for one in self.differences:
            if NUMBERS.fullmatch(one.before) and NUMBERS.fullmatch(one.after):
                sums[one.student] += float(one.after) - float(one.before)
            else:
                waits.add(one.student)
        gain, lose = sum(one > MIN_CHANGE for one in sums.values()), sum(one < -MIN_CHANGE for one in sums.values())
        also = f", {len(waits)} have an exercise that one of the two did not grade" if waits else ""
        return (f"{self.assignment}: {self.submissions} submissions were graded with other checks; graded with these, "
                f"{gain} students would gain points and {lose} would lose some{also}")  # fmt: skip


def verify(options: VerifyOptions, console: Console) -> int:
    """Returns 0 if all verdicts are the same, 1 if one differs, 2 if a submission could not be graded again.

    Raises BadCourse, CourseBusy or PoolError.
    """
    try:
        with Interrupt() as interrupt:
            found = [_verify(options, name, console, interrupt) for name in _assignments(options)]
    except KeyboardInterrupt:
        return STOPPED
    compared = [one for one in found if one is not None]
    if not compared and options.upgraded:
        console.print("nothing was graded with other checks than those of this release")
        return 0
    if not compared:
        raise BadCourse(f"nothing to verify in {options.course}: no submission is graded, or all have changed since")
    return 1 if any(one.differences for one in compared) else 2 if any(one.failures for one in compared) else 0


def compare(
    course: Course,
    submissions: Sequence[Submission],
    pool: Pool,
    kind: type[SecondGrading] = SecondGrading,
    *,
    workers: Mapping[Key, str] | None = None,
    before: Callable[[Key], Verdicts] | None = None,
) -> SecondGrading:
    """Grade these submissions again in `pool`, and compare with the verdicts in their graded notebooks.

    workers: the addresses of those that graded them first, so that others do it now. before: the verdicts to compare
    with in place of the graded notebooks'.
    """
    found, first = kind(course.assignment), workers or {}
    before = before or (lambda key: current_verdicts(course, key.student))
    work = (GradingTask(one.key, partial(course.bundle, one), first.get(one.key, "")) for one in submissions)
    for done in pool.grade(work):
        if done.record is None:
            found.failures.append(f"{done.key.student} · {course.assignment}: {done.error}")
            continue
        found.submissions += 1
        found.verdicts += len(done.record.verdicts)
        found.differences += changes(before(done.key), done.record)
        if first.get(done.key) and done.worker:
            found.graders[done.key.student] = first[done.key], done.worker
    return found


def sample(submissions: Sequence[Submission], number: int) -> list[Submission]:
    """So many of them, others at each call, in their order."""
    chosen = set(secrets.SystemRandom().sample(range(len(submissions)), min(number, len(submissions))))
    return [one for index, one in enumerate(submissions) if index in chosen]


def _assignments(options: VerifyOptions) -> list[str]:
    if options.assignment is not None:
        return [options.assignment]
    coursedir = settings_of(options.course.resolve()).coursedir
    with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
        names = sorted(one.name for one in gradebook.assignments)
    return [name for name in names if students_in(coursedir, coursedir.autograded_directory, name)]


def _verify(options: VerifyOptions, assignment: str, console: Console, interrupt: Interrupt) -> SecondGrading | None:
    """The comparison, printed and stored; None if no submission can be compared."""
    course = Course(options.course, assignment, options.device)
    with Records(course.root, alone=False) as records:
        graded, other, left_out = _comparable(course, records.current_keys(assignment))
        if options.upgraded:
            return _upgraded(options, course, other, console, interrupt)
        for line in left_out:
            console.print(f"{assignment}: {line}", markup=False, soft_wrap=True)
        chosen = sample(graded, options.sample or SAMPLE)
        if not chosen:
            return None
        with interrupt.interruptible(), _pool(options, course, len(chosen), console, interrupt) as pool:
            found = compare(course, chosen, pool)
        for line in found.lines():
            console.print(line, markup=False, soft_wrap=True)
        records.add_verification(assignment, found.verdicts, found.equal)
    return found


def _upgraded(
    options: VerifyOptions, course: Course, other: list[Submission], console: Console, interrupt: Interrupt
) -> SecondGrading | None:
    """What would change of those that were graded with other checks, printed; None if there are none."""
    chosen = sample(other, options.sample or len(other))
    if not chosen:
        return None
    with interrupt.interruptible(), _pool(options, course, len(chosen), console, interrupt) as pool:
        found = compare(course, chosen, pool, RegradePreview)
    for line in found.lines():
        console.print(line, markup=False, soft_wrap=True)
    return found


def _comparable(course: Course, current: dict[str, Key]) -> tuple[list[Submission], list[Submission], list[str]]:
    """The submissions whose grades are of this version of checks and of what is submitted now; those of other checks;
    and why any are left out."""
    graded: list[Submission] = []
    other: list[Submission] = []
    new = waiting = 0
    for one in course.submissions():
        key, verdicts = current.get(one.key.student), current_verdicts(course, one.key.student).values()
        graded_folder = course.graded_folder(one.key.student)
        is_new = is_resubmitted(one.folder, graded_folder) if key is None else key.submission != one.key.submission
        if is_new or not verdicts:
            new += 1
        elif key is not None and key.checks != one.key.checks:
            other.append(one)
        elif all(verdict["status"] == "not_graded" for verdict in verdicts):
            waiting += 1
        else:
            graded.append(one)
    reasons = [
        (new, "are not graded yet"),
        (len(other), "were graded with other checks (`autograder verify --upgraded` shows what would change)"),
        (waiting, "wait for a person"),
    ]
    return graded, other, [f"{number} submissions {why}: left out" for number, why in reasons if number]


def is_resubmitted(submitted: Path, graded: Path) -> bool:
    """Whether a submission has another time than its graded copy, both given by their folders."""
    return _content(submitted / timestamps.FILE) != _content(graded / timestamps.FILE)


def _content(path: Path) -> bytes:
    try:
        return read_small(path, timestamps.MAX_BYTES)
    except OSError:  # there is none, or nothing that could be a time
        return b""


def _pool(
    options: VerifyOptions, course: Course, jobs: int, console: Console, interrupt: Interrupt
) -> AbstractContextManager[Pool]:
    def notify(line: str) -> None:
        """Print what happens to the workers."""
        console.print(line, style="yellow", markup=False)

    if options.scheduler:
        return pools.remote(options.scheduler, course.device, notify, interrupt.check)
    workers, device = pools.workers_here(course.device, options.workers)
    return pools.local(min(workers, jobs), device, notify, interrupt.check)
