"""`autograder serve`: the loop over courses, with workers that are loaded before anything arrives.

A service of the Hub must not end: the Hub would end with it (`port`). So what is not there yet, or cannot be started,
is one line in the log, and tried again.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from dask.system import CPU_COUNT
from nbgrader.api import InvalidEntry
from rich.console import Console
from sqlalchemy.exc import SQLAlchemyError

from autograder.cluster import pool as pools
from autograder.cluster.course import BadCourse
from autograder.cluster.grading_process import GradingFailed, GradingProcessDied, warm_up
from autograder.cluster.pool import Pool, PoolError
from autograder.console import error_messages
from autograder.nbgrader.config import CONFIG
from autograder.sandbox import SandboxError
from autograder.serve import probes
from autograder.serve.course import RETRY_S, Return, ServedCourse
from autograder.serve.feedback import FeedbackError, give_feedback
from autograder.serve.passback import Passback
from autograder.serve.port import ServicePort
from tfkit_course.interrupt import Interrupt

SUBMISSIONS_PER_WORKER = 8  # submissions for each worker between two looks for new ones
FAULTS = (BadCourse, PoolError, OSError, sqlite3.Error, SQLAlchemyError, InvalidEntry)


@dataclass(frozen=True)
class ServeOptions:
    """The options of the command line; `every` is in seconds."""

    courses: tuple[Path, ...]
    assignments: tuple[str, ...] = ()
    workers: int | None = None
    scheduler: str | None = None
    device: str | None = None
    every: float = 5.0
    once: bool = False
    passback: bool = False
    listen: str = ""  # HOST:PORT of `health` and `metrics`, for a service that is none of a Hub's


def serve(options: ServeOptions, console: Console, port: ServicePort | None = None) -> int:
    """Grade new submissions until a signal, and return 0. With `once`, stop when none waits; 2 where something failed.

    port: that of a service of the Hub, which shows the status page from now on. Raises PoolError and OSError if the
    workers cannot be started; a service of the Hub tries again instead.
    """
    options = replace(options, courses=tuple(Path(os.path.abspath(root)) for root in options.courses))
    leave_closed_directory(console)
    interrupt, shown = Interrupt(), ShownStatus()
    if port is not None:
        from autograder.serve import status

        port.show(status.application(shown.status, port.prefix, os.urandom(32)))
    if options.listen:
        probes.listen(options.listen, shown.status)
    try:
        with interrupt, ExitStack() as stack:
            stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, interrupt._handle))
            while True:
                try:
                    return _run(options, console, interrupt, shown)
                except (*FAULTS, RuntimeError) as error:  # a RuntimeError is Dask's: its workers do not start
                    if port is None:
                        raise
                    shown.service, shown.error = None, _in_one_line(error, "the workers")
                    console.print(f"! not started, tried again: {shown.error}", style="yellow", markup=False)
                    _wait(RETRY_S, interrupt)
    except KeyboardInterrupt:
        console.print("stopped; all finished grades are stored; the next start continues from there", style="yellow")
        return 0


def _run(options: ServeOptions, console: Console, interrupt: Interrupt, shown: ShownStatus) -> int:
    """Start the workers, and serve the courses."""
    with ExitStack() as stack:
        with interrupt.interruptible():
            pool = stack.enter_context(_pool(options, console, interrupt))
            _warm_up(pool)
        back = stack.enter_context(Returner(max(1, min(pool.slots(), CPU_COUNT))))
        shown.service = service = GradingService(options, pool, back, console, interrupt)
        console.print(f"grading new submissions of {', '.join(map(str, options.courses))}; {pool.slots()} workers")
        return service.run()


def _warm_up(pool: Pool) -> None:
    """Have each worker load what it needs. Raises PoolError if one cannot."""
    try:
        pool.client.run(warm_up)
    except (GradingFailed, GradingProcessDied, SandboxError) as error:
        reason = _in_one_line(error, "the workers")
        raise PoolError(f"the workers cannot start: {reason}: run `autograder doctor` on their machine") from error


def leave_closed_directory(console: Console) -> None:
    """Go elsewhere if this process may not enter its working directory, where each of its workers would go first.

    A service inherits the directory of the Hub, which is often one of root's.
    """
    try:
        os.chdir(os.getcwd())
    except OSError as error:
        there = tempfile.gettempdir()
        os.chdir(there)
        console.print(f"the working directory cannot be entered ({error.strerror}): working in {there} instead",
                      style="yellow", markup=False)  # fmt: skip


def _in_one_line(error: BaseException, where: str) -> str:
    return error_messages.explain(error, where) or str(error).partition("\n")[0] or type(error).__name__


def _wait(seconds: float, interrupt: Interrupt, sleep: Callable[[float], object] = time.sleep) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        interrupt.check()
        sleep(min(left, pools.POLL_S))


def _pool(options: ServeOptions, console: Console, interrupt: Interrupt) -> AbstractContextManager[Pool]:
    def say(text: str) -> None:
        console.print(text, style="yellow", markup=False)

    device = options.device or "auto"
    if options.scheduler:
        return pools.remote(options.scheduler, device, say, interrupt.check)
    workers, device = pools.workers_here(device, options.workers)
    return pools.local(workers, device, say, interrupt.check)


class Returner:
    """Processes that make feedback pages; use it in a `with` statement, and call it as `ServedCourse` does."""

    def __init__(self, processes: int) -> None:
        self._executor = ProcessPoolExecutor(processes, get_context("spawn"))

    def __enter__(self) -> Returner:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown(cancel_futures=True)

    def __call__(self, root: Path, assignment: str, students: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yields each student with an error or ""."""
        sent = {self._executor.submit(_error_of, root, assignment, student): student for student in students}
        for future in as_completed(sent):
            yield sent[future], future.result()


def _error_of(root: Path, assignment: str, student: str) -> str:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the service handles Ctrl-C, and waits for the page
    try:
        give_feedback(root, assignment, student)
    except (FeedbackError, BadCourse) as error:
        return str(error)
    return ""


@dataclass
class ShownStatus:
    """What the status page shows: the numbers of the service, or that it has not started yet, and perhaps why."""

    service: GradingService | None = None
    error: str = ""

    def status(self) -> dict[str, Any]:
        """{"error": text, "starting": whether it still does, "waiting": {course: reason}, "courses": {…}, "last_pass":
        seconds since 1970, or 0}"""
        if self.service is not None:
            return self.service.status()
        return {"error": self.error, "starting": not self.error, "waiting": {}, "courses": {}, "last_pass": 0.0}


class GradingService:
    """Serves the courses in turn, repeatedly. Those that are not there yet are waited for."""

    def __init__(
        self, options: ServeOptions, pool: Pool, give_back: Return, console: Console, interrupt: Interrupt,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:  # fmt: skip
        self.options, self.console, self.interrupt, self._sleep = options, console, interrupt, sleep
        self._pool, self._give_back = pool, give_back
        self.courses: list[ServedCourse] = []
        self.waiting = dict.fromkeys(options.courses, "")  # courses that are not open, with the reason
        self._next_try: dict[Path, float] = {}
        self.error = ""
        self.last_pass = 0.0  # when a pass without an error ended, in seconds since 1970
        self.passback = Passback(console) if options.passback else None

    def status(self) -> dict[str, Any]:
        """The numbers that `status.page` shows."""
        courses = {one.course_id: {name: asdict(two) for name, two in list(one.progress.items())}
                   for one in self.courses}  # fmt: skip
        waiting = {str(root): reason for root, reason in list(self.waiting.items()) if reason}
        return {"error": self.error, "starting": False, "waiting": waiting, "courses": courses,
                "last_pass": self.last_pass}  # fmt: skip

    def run(self) -> int:
        """Runs until a signal, which is raised as KeyboardInterrupt; with `once`, until there is nothing left to do."""
        while True:
            busy = self.step()
            if self.options.once and not busy:
                counts = [one for course in self.courses for one in course.progress.values()]
                failed = any(one.failures or one.differences for one in counts)
                unsent = self.passback is not None and self.passback.has_failed()
                return 2 if failed or unsent or self.error or self.waiting else 0
            if not busy:
                _wait(self.options.every, self.interrupt, self._sleep)

    def step(self) -> bool:
        """One pass over the courses; returns whether anything was done. After an error the next pass tries again."""
        busy, self.error = False, ""
        for root in list(self.waiting):
            self._open(root)
        for course in self.courses:
            try:
                busy |= course.step()
                if self.passback is not None:
                    self.passback.send_due(course)
            except FAULTS as error:
                self.error = _in_one_line(error, str(course.root))
                self.console.print(f"! {course.course_id}: {self.error}", style="yellow", markup=False)
        self.last_pass = self.last_pass if self.error else time.time()
        return busy and not self.error

    def _open(self, root: Path) -> None:
        """Begin to serve the course in `root`, or note why that is not possible yet; a new reason is logged."""
        if time.monotonic() < self._next_try.get(root, 0.0):
            return
        try:
            self.courses.append(self._course(root))
        except FAULTS as error:
            reason = _in_one_line(error, str(root))
            if self.waiting[root] != reason:
                self.console.print(f"! waiting for a course: {reason}", style="yellow", markup=False)
            self.waiting[root] = reason
            # to look for a file costs nothing; nbgrader prints what is wrong in a configuration at each try
            self._next_try[root] = time.monotonic() + (RETRY_S if os.path.exists(root / CONFIG) else 0.0)
            return
        if self.waiting.pop(root):
            self.console.print(f"the course {root} is there: grading its new submissions", markup=False)

    def _course(self, root: Path) -> ServedCourse:
        more: dict[str, Any] = {"assignments": self.options.assignments, "device": self.options.device}
        batch = max(16, SUBMISSIONS_PER_WORKER * self._pool.slots())
        course = ServedCourse(root, self._pool, self._give_back, self.console, self.interrupt, batch=batch, **more)
        if course.course_id in {one.course_id for one in self.courses}:
            raise BadCourse(f"two of these courses are called {course.course_id} in the exchange: give {root} another "
                            "c.CourseDirectory.course_id")  # fmt: skip
        return course
