"""One course that is graded as submissions arrive: collect, grade, return; each step can be repeated."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.exchange import ExchangeError, ExchangeFactory
from rich.console import Console
from sqlalchemy.engine import make_url

from autograder.cluster.command import GradingRun, Options
from autograder.cluster.course import BadCourse, Course, settings_of, students_in, working_in
from autograder.cluster.gradebook import GradebookWriter
from autograder.cluster.pool import Pool
from autograder.cluster.records import CourseBusy, Records
from autograder.cluster.screen import ProgressScreen
from autograder.nbgrader.exchange import NotCollected
from autograder.serve import lock
from tfkit_course.interrupt import Interrupt

RETRY_S = 60.0  # between two attempts at what could not be graded, returned or passed back

Stamp = tuple[int, int, tuple[tuple[str, int, int, int], ...]]
Return = Callable[[Path, str, Collection[str]], Iterator[tuple[str, str]]]


class ServiceScreen(ProgressScreen):
    """Log output: one line for each student, without totals in between."""

    def summary(self, assignment: str) -> None:
        """Prints nothing, since the status page has the totals."""


class ServedRun(GradingRun):
    """A round on existing workers, for some students of the class."""

    pool: Pool

    def _pool(self, screen: ProgressScreen, jobs: int) -> AbstractContextManager[Pool]:
        return nullcontext(self.pool)

    def _screen(self, total: int, done: int) -> ProgressScreen:
        return ServiceScreen(self.console, total, done)

    def _nothing_to_do(self) -> int:
        return 0

    def _number_again(self, wanted: float) -> int:
        """Rounded up or down by chance: of one submission after the other, the share is graded again as well."""
        return int(wanted) + (secrets.SystemRandom().random() < wanted % 1)

    def _compare_totals(self, writer: GradebookWriter) -> None:
        """Does nothing: it would read the whole class, and `autograder grade` reports it."""


@dataclass
class ServiceCounts:
    """Counts of an assignment's submissions by outcome since the service started."""

    waiting: int = 0
    graded: int = 0
    returned: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)  # verdicts that were others when graded again


def _exists(database: str) -> bool:
    """Whether a database is there, of one that is a file; one on a server is taken to be."""
    url = make_url(database)
    return url.get_backend_name() != "sqlite" or not url.database or Path(url.database).exists()


def stamp_of(folder: Path) -> Stamp:
    """When the folder was collected and what it holds, by what only the file system sets.

    Collecting keeps the time of the last change that a student gave a folder or a file: who set an early one was graded
    before everybody else, and a new version with the time of the one before was not noticed.
    """
    with os.scandir(folder) as found:
        files = sorted((one.name, one.stat(follow_symlinks=False)) for one in found)
    own = folder.stat()
    return own.st_ctime_ns, own.st_ino, tuple((name, it.st_ino, it.st_size, it.st_ctime_ns) for name, it in files)


class ServedCourse:
    """The course in `root`; `give_back(root, assignment, students)` yields (student, error or "") as pages go out.

    assignments: only these; all in the gradebook if none is named. Raises BadCourse.
    """

    def __init__(
        self, root: Path, pool: Pool, give_back: Return, console: Console, interrupt: Interrupt, *,
        assignments: Collection[str] = (), batch: int = 16, device: str | None = None,
    ) -> None:  # fmt: skip
        self.root, self.pool, self.batch, self.device = root.resolve(), pool, batch, device
        self._give_back, self.console, self.interrupt, self._named = give_back, console, interrupt, assignments
        self.app = settings_of(self.root)
        self._lock = lock.acquire(self.root)  # as long as this process lives
        self.course_id = str(self.app.coursedir.course_id)
        self.progress: dict[str, ServiceCounts] = {}
        self._submitted: dict[str, dict[str, Stamp]] = {}  # assignment → student → what their folder holds
        self._pending: dict[str, dict[str, None]] = {}  # … → waiting students, longest first
        self._uncollected: dict[str, dict[str, str]] = {}  # … → whose submission could not be collected, and why
        self._retry: dict[str, float] = {}

    def assignments(self) -> list[str]:
        """The assignments to grade: those requested, or all in the gradebook."""
        there: list[str] = []
        with working_in(self.root):
            if _exists(url := self.app.coursedir.db_url):  # opening would make it, while the course's build may do that
                with Gradebook(url, self.course_id) as gradebook:
                    there = sorted(one.name for one in gradebook.assignments)
        if unknown := sorted(set(self._named) - set(there)):
            known = ", ".join(there) or "none"
            raise BadCourse(f"{self.root} has no assignment {', '.join(unknown)}; available: {known}")
        return [name for name in there if not self._named or name in self._named]

    def step(self) -> bool:
        """Collect new submissions, grade and return some; returns whether anything was done."""
        return any([self._step(name) for name in self.assignments()])

    def _step(self, assignment: str) -> bool:
        progress = self.progress.setdefault(assignment, ServiceCounts())
        uncollected = self._collect(assignment)
        self._queue_new(assignment)
        pending = self._pending[assignment]
        chunk = list(pending)[: self.batch]
        try:
            with Records(self.root) as records:
                failed = self._grade(assignment, chunk, records, progress) if chunk else {}
                back = self._return(assignment, records, progress)
        except CourseBusy:  # an instructor is grading: try again later
            return False
        for student in chunk:
            del pending[student]
        self._note_failures(assignment, uncollected | failed, progress)
        progress.waiting = len(pending)
        return bool(chunk or back)

    # -- what is new ---------------------------------------------------------------------------------------------------
    def _collect(self, assignment: str) -> dict[str, str]:
        """Collect what is new; returns whose could not be, and why. These are left out until the retry is due."""
        if time.monotonic() >= self._retry.get(assignment, 0.0):
            self._uncollected.pop(assignment, None)
        uncollected = self._uncollected.setdefault(assignment, {})
        coursedir = self.app.coursedir
        coursedir.assignment_id, coursedir.student_id = assignment, "*"
        with working_in(self.root):
            try:
                collect = ExchangeFactory(parent=self.app).Collect(coursedir=coursedir, parent=self.app, update=True)
                collect.left_out = set(uncollected)
                collect.start()
            except NotCollected as error:
                uncollected |= dict.fromkeys(error.students, "not collected; tried again")
            except ExchangeError:
                return uncollected  # not released yet, so there are no submissions
        return uncollected

    def _queue_new(self, assignment: str) -> None:
        """Queue students who submitted since the last look, in the order of collecting; at the first look, and when
        it is due, the whole class."""
        if time.monotonic() >= self._retry.get(assignment, float("inf")):
            self._submitted.pop(assignment, None)
            self._retry.pop(assignment)
        with working_in(self.root):
            folders = students_in(self.app.coursedir, self.app.coursedir.submitted_directory, assignment)
        excluded = set(self.app.coursedir.student_id_exclude.split(","))
        now = {name: stamp_of(folder) for name, folder in folders.items() if name not in excluded}
        before = self._submitted.get(assignment, {})
        changed = sorted((stamp, name) for name, stamp in now.items() if before.get(name) != stamp)
        self._submitted[assignment] = now
        pending = self._pending.get(assignment, {}) | dict.fromkeys(name for _, name in changed)
        self._pending[assignment] = {name: None for name in pending if name in now}

    # -- grading -------------------------------------------------------------------------------------------------------
    def _grade(self, assignment: str, students: list[str], records: Records, progress: ServiceCounts) -> dict[str, str]:
        """Grade the ungraded ones of these students; returns who could not be graded, and why."""
        course = Course(self.root, assignment, self.device, students)
        run = ServedRun(Options(self.root, assignment, resume=True), course, records, self.console, self.interrupt)
        run.pool = self.pool
        before = records.current_keys(assignment)
        run.run()
        if run.verified is not None:
            progress.differences += run.verified.named_differences()
        after = records.current_keys(assignment)
        progress.graded += sum(after.get(name) != before.get(name) for name in students)
        return {key.student: "not graded; tried again" for key in run.submissions if after.get(key.student) != key}

    def _return(self, assignment: str, records: Records, progress: ServiceCounts) -> bool:
        """Release the feedback of graded students; returns whether there was any."""
        due = records.feedback_due(assignment)
        some = [student for student in due if student not in progress.failures][: self.batch]
        for student, error in self._give_back(self.root, assignment, some):
            self.interrupt.check()
            if error:
                progress.failures[student] = error
                self._retry.setdefault(assignment, time.monotonic() + RETRY_S)
                self.console.print(f"! {error}", style="yellow", markup=False)
            else:
                records.mark_returned(assignment, student, due[student])
                progress.returned += 1
        return bool(some)

    def _note_failures(self, assignment: str, failed: dict[str, str], progress: ServiceCounts) -> None:
        if assignment not in self._retry:
            progress.failures.clear()
        progress.failures |= failed
        if failed:
            self._retry.setdefault(assignment, time.monotonic() + RETRY_S)
