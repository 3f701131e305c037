"""`autograder serve`: the loop over courses, with workers that are loaded before anything arrives."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from dask.system import CPU_COUNT
from rich.console import Console
from sqlalchemy.exc import SQLAlchemyError

from autograder import error_messages
from autograder.cluster import pool as pools
from autograder.cluster.course import BadCourse
from autograder.cluster.grading_process import warm_up
from autograder.cluster.pool import Pool, PoolError
from autograder.serve.course import Return, ServedCourse
from autograder.serve.feedback import FeedbackError, give_feedback
from autograder.serve.passback import Passback
from tfkit_course.interrupt import Interrupt

SUBMISSIONS_PER_WORKER = 8  # submissions for each worker between two looks for new ones
FAULTS = (BadCourse, PoolError, OSError, SQLAlchemyError)


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


def serve(options: ServeOptions, console: Console) -> int:
    """Grade new submissions until a signal, and return 0. With `once`, stop when none waits; 2 where something failed.

    Raises BadCourse, PoolError, OSError.
    """
    interrupt = Interrupt()
    try:
        with interrupt, ExitStack() as stack:
            stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, interrupt._handle))
            with interrupt.interruptible():
                pool = stack.enter_context(_pool(options, console, interrupt))
                pool.client.run(warm_up)
            back = stack.enter_context(Returner(max(1, min(pool.slots(), CPU_COUNT))))
            service = GradingService(options, pool, back, console, interrupt)
            if "JUPYTERHUB_SERVICE_URL" in os.environ:
                from autograder.serve import status

                status.start(service.status)
            console.print(f"grading new submissions of {', '.join(map(str, options.courses))}; {pool.slots()} workers")
            return service.run()
    except KeyboardInterrupt:
        console.print("stopped; all finished grades are stored; the next start continues from there", style="yellow")
        return 0


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


class GradingService:
    """Serves the courses in turn, repeatedly."""

    def __init__(
        self, options: ServeOptions, pool: Pool, give_back: Return, console: Console, interrupt: Interrupt,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:  # fmt: skip
        self.options, self.console, self.interrupt, self._sleep = options, console, interrupt, sleep
        more: dict[str, Any] = {"assignments": options.assignments, "device": options.device}
        batch = max(16, SUBMISSIONS_PER_WORKER * pool.slots())
        self.courses = [ServedCourse(root, pool, give_back, console, interrupt, batch=batch, **more)
                        for root in options.courses]  # fmt: skip
        names = [course.course_id for course in self.courses]
        if twice := {name for name in names if names.count(name) > 1}:
            raise BadCourse(f"two of these courses are called {', '.join(twice)} in the exchange: give each its own "
                            "c.CourseDirectory.course_id")  # fmt: skip
        self.error = ""
        self.passback = Passback(console) if options.passback else None

    def status(self) -> dict[str, Any]:
        """The numbers that `status.page` shows."""
        courses = {one.course_id: {name: asdict(two) for name, two in list(one.progress.items())}
                   for one in self.courses}  # fmt: skip
        return {"error": self.error, "courses": courses}

    def run(self) -> int:
        """Runs until a signal, which is raised as KeyboardInterrupt; with `once`, until there is nothing left to do."""
        while True:
            busy = self.step()
            if self.options.once and not busy:
                failed = any(one.failures for course in self.courses for one in course.progress.values())
                unsent = self.passback is not None and self.passback.has_failed()
                return 2 if failed or unsent or self.error else 0
            if not busy:
                self._wait(self.options.every)

    def step(self) -> bool:
        """One pass over the courses; returns whether anything was done. After an error the next pass tries again."""
        busy, self.error = False, ""
        for course in self.courses:
            try:
                busy |= course.step()
                if self.passback is not None:
                    self.passback.send_due(course)
            except FAULTS as error:
                self.error = error_messages.explain(error, str(course.root)) or str(error).partition("\n")[0]
                self.console.print(f"! {course.course_id}: {self.error}", style="yellow", markup=False)
        return busy and not self.error

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.interrupt.check()
            self._sleep(min(left, pools.POLL_S))
