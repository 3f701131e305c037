"""`autograder grade`: sends ungraded submissions to workers, and writes the results to disk and the gradebook."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.prompt import Confirm

from autograder.cluster import pool as pools
from autograder.cluster import verify
from autograder.cluster.bundle import Key
from autograder.cluster.changes import Change, Verdicts, changes, current_verdicts, table, total_changes, verdicts_of
from autograder.cluster.course import BadCourse, Course, Submission
from autograder.cluster.gradebook import GradebookWriter
from autograder.cluster.job import GradingRecord, ungraded_record
from autograder.cluster.pool import GradingTask, JobOutcome, Pool, PoolError
from autograder.cluster.records import CourseBusy, Records, Round
from autograder.cluster.screen import ProgressScreen
from autograder.console import error_messages
from autograder.feedback.text import one_line
from autograder.nbgrader.execute import KILLED_TWICE
from tfkit_course.interrupt import Interrupt

STOPPED = 130


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    course: Path
    assignment: str
    workers: int | None = None
    scheduler: str | None = None
    device: str | None = None
    resume: bool = False
    regrade: bool = False
    yes: bool = False
    take_renamed: bool = False


def grade(options: Options, console: Console) -> int:
    """Returns 0 if all is in the gradebook, else 2; 130 is Ctrl-C.

    Raises BadCourse, CourseBusy or PoolError if the course, its records or the workers cannot be used.
    """
    try:
        _no_open_scheduler(options, console)
        course = Course(options.course, options.assignment, options.device, take_renamed=options.take_renamed)
        with Records(course.root) as records, Interrupt() as interrupt:
            return GradingRun(options, course, records, console, interrupt).run()
    except KeyboardInterrupt:
        console.print("stopped; all finished grades are stored; continue with --resume", style="yellow")
        return STOPPED


def _no_open_scheduler(options: Options, console: Console) -> None:
    """Ask before submissions are sent over a network unencrypted. Raises BadCourse if that is refused."""
    if not options.scheduler or options.yes or not pools.is_open(options.scheduler):
        return
    console.print(f"{options.scheduler} is on another host and does not use TLS: anyone on the network could read "
                  "the submissions and their tests' inputs, and whoever reaches the scheduler can run code on its "
                  "workers and here",
                  style="yellow")  # fmt: skip
    if not (sys.stdin.isatty() and Confirm.ask("grade there anyway?", console=console, default=False)):
        raise BadCourse("nothing was sent: use a tls:// address (docs/cluster.md), or --yes on a private network")


class GradingRun:
    """One call of the command."""

    def __init__(
        self, options: Options, course: Course, records: Records, console: Console, interrupt: Interrupt
    ) -> None:
        self.options, self.course, self.records, self.console = options, course, records, console
        self.interrupt = interrupt
        self.submissions = {one.key: one for one in course.submissions()}
        self.folders = {key.student: one.folder for key, one in self.submissions.items()}
        self.graded: list[Submission] = []  # by this run
        self.workers: dict[Key, str] = {}  # that graded them, by their addresses
        self.verified: verify.SecondGrading | None = None

    def run(self) -> int:
        """Choose the round, grade the submissions that it lacks, and commit it."""
        for submission in self.submissions.values():
            for remark in submission.remarks:
                self._warn(f"{one_line(submission.key.student)}: {remark}")
        round = self._stopped_round()
        if round is None:
            due = list(self.submissions) if self.options.regrade else self._not_graded()
            if not due:
                return self._nothing_to_do()
            round = self.records.begin_round(self.course.assignment, self.options.regrade)
        else:
            due = list(self.submissions) if round.regrade else [*self._not_graded(), *self.records.keys(round)]
        due = [key for key in dict.fromkeys(due) if key in self.submissions]
        with GradebookWriter(self.course) as writer:
            return self._round(round, due, writer)

    def _warn(self, text: str) -> None:
        self.console.print(text, style="yellow", markup=False)

    def _stopped_round(self) -> Round | None:
        """The unfinished round to resume, if any. Raises BadCourse if no option says what to do with it."""
        round = self.records.open_round(self.course.assignment)
        if round is None or self.options.resume:
            return round
        there = len(self.records.keys(round))
        if self.options.regrade or not there:
            self.records.end_round(round, "abandoned")
            return None
        what = "regrade" if round.regrade else "run"
        raise BadCourse(f"a {what} of {round.assignment} stopped with {there} of {len(self.submissions)} graded: "
                        "--resume continues it, --regrade starts again")  # fmt: skip

    def _not_graded(self) -> list[Key]:
        """Submissions that were made, or made again, since the last committed grade."""
        current = self.records.current_keys(self.course.assignment)
        return [
            key
            for key in self.submissions
            if key.student not in current
            or current[key.student].submission != key.submission
            or not self.course.graded_folder(key.student).exists()  # deleted by an instructor to have it graded again
        ]

    def _nothing_to_do(self) -> int:
        """Report that nothing is new; offer to update totals where manual marks or the late policy changed since."""
        current = self.records.current_keys(self.course.assignment)
        self.console.print(f"all {len(self.submissions)} submissions are graded already")
        old = sum(current[key.student].checks != key.checks for key in self.submissions)
        if old:
            self.console.print(f"{old} of them with other checks: `autograder verify --upgraded` says who would gain "
                               "or lose, --regrade changes the grades")  # fmt: skip
        with GradebookWriter(self.course) as writer:
            found = total_changes(writer.totals())
            if not found:
                return 0
            self.console.print("these late penalties in the formgrader do not match the current marks and policy:")
            if not self._is_confirmed(found, "nothing was written: use --yes to write them"):
                return 2
            writer.store_penalties(one.student for one in found)
        return 0

    def _round(self, round: Round, due: list[Key], writer: GradebookWriter) -> int:
        there = self.records.keys(round)
        left = [key for key in due if key not in there]
        screen = self._screen(len(due), len(due) - len(left))
        with screen:
            if not round.regrade:
                for key in self.records.uncommitted_keys(round) & set(due):
                    self._commit_or_report(round, key, writer, screen)
            if left:
                with ExitStack() as stack:
                    with self.interrupt.interruptible():
                        pool = stack.enter_context(self._pool(screen, len(left)))
                    self._collect(round, left, pool, writer, screen)
                    self._verify_some(round, pool)
        screen.summary(self.course.assignment)
        equal = self._verified()
        if screen.failures:
            return 2
        if round.regrade:
            return self._commit_regrade(round, due, writer) or (0 if equal else 2)
        self._end(round)
        self._compare_totals(writer)
        return 0 if equal else 2

    def _verify_some(self, round: Round, pool: Pool) -> None:
        """Grade a share of them again, on another worker if there is one: a check that depends on chance shows by its
        differences, and so does a worker that makes verdicts up."""
        if chosen := verify.sample(self.graded, self._number_again(self.course.share_again * len(self.graded))):
            self.verified = verify.compare(
                self.course, chosen, pool, workers=self.workers, before=partial(self._recorded, round)
            )

    def _number_again(self, wanted: float) -> int:
        """How many are graded again, where the share asks for `wanted`."""
        least = 1 if self.options.scheduler and wanted else 0  # who runs those workers is not known here
        return max(int(wanted + 1e-9), least)

    def _recorded(self, round: Round, key: Key) -> Verdicts:
        """The verdicts of this round, which a regrade commits only later."""
        record = self.records.get(round, key)
        return verdicts_of(record) if record else {}

    def _verified(self) -> bool:
        """Print and store the comparison, if there is one; False if a verdict was another the second time."""
        found = self.verified
        if found is None:
            return True
        for line in found.lines():
            self.console.print(line, markup=False, soft_wrap=True)
        self.records.add_verification(self.course.assignment, found.verdicts, found.equal)
        return not found.differences

    def _compare_totals(self, writer: GradebookWriter) -> None:
        """Report it where the formgrader shows outdated penalties."""
        if others := total_changes(writer.totals()):
            self.console.print(f"{len(others)} late penalties in the formgrader do not match the current marks and "
                               "policy: run this again to see them", style="yellow")  # fmt: skip

    def _screen(self, total: int, done: int) -> ProgressScreen:
        return ProgressScreen(self.console, total, done)

    def _pool(self, screen: ProgressScreen, jobs: int) -> AbstractContextManager[Pool]:
        device = self.course.device
        if self.options.scheduler:
            return pools.remote(self.options.scheduler, device, screen.print_line, self.interrupt.check)
        workers, device = pools.workers_here(device, self.options.workers)
        return pools.local(min(workers, jobs), device, screen.print_line, self.interrupt.check)

    def _collect(
        self, round: Round, left: Iterable[Key], pool: Pool, writer: GradebookWriter, screen: ProgressScreen
    ) -> None:
        work = (GradingTask(key, self._sender(self.submissions[key], screen)) for key in left)
        for done in pool.grade(work):
            record = self._ungraded(done, screen) if done.killed_workers else done.record
            if record is None:
                screen.mark_failed(done.key.student, done.error)
            elif self.records.add(round, record) and (
                round.regrade or self._commit_or_report(round, record.key, writer, screen)
            ):
                screen.mark_graded(record)
                if not done.killed_workers:
                    self.graded.append(self.submissions[done.key])
                    self.workers[done.key] = done.worker

    def _ungraded(self, done: JobOutcome, screen: ProgressScreen) -> GradingRecord:
        """The record of a submission that kills its workers: it needs manual grading, and the others go on."""
        screen.print_line(f"{done.key.student}: {done.error} Grade it by hand.")
        return ungraded_record(self.course.bundle(self.submissions[done.key]), KILLED_TWICE)

    def _sender(self, submission: Submission, screen: ProgressScreen):
        def bundle() -> bytes:
            """Reads the submission each time it is sent, and shows that on the screen."""
            screen.mark_sent(submission.key.student)
            return self.course.bundle(submission)

        return bundle

    def _commit(self, round: Round, key: Key, writer: GradebookWriter) -> None:
        record = self.records.get(round, key)
        assert record is not None, f"no record of {key} in round {round.number}"
        writer.write(record, self.folders[key.student])
        self.records.mark_committed(round, key)

    def _commit_or_report(self, round: Round, key: Key, writer: GradebookWriter, screen: ProgressScreen) -> bool:
        """Commit, and return whether that went well; else the submission waits for the next run, and the others go on.

        Raises what would stop the others too: an error of the disk or the database.
        """
        try:
            self._commit(round, key, writer)
        except Exception as error:
            if error_messages.explain(error, "") is not None:
                raise
            screen.mark_failed(key.student, f"{type(error).__name__}: {error}")
            return False
        return True

    def _end(self, round: Round) -> int:
        self.records.end_round(round, "committed")
        return 0

    def _commit_regrade(self, round: Round, due: list[Key], writer: GradebookWriter) -> int:
        """Show the changes in checks and totals, ask for confirmation, and commit."""
        found: list[Change] = []
        for record in (record for key in due if (record := self.records.get(round, key))):
            student = record.key.student
            found += changes(current_verdicts(self.course, student), record)
            found += total_changes({student: writer.preview(record, self.folders[student])})
        if not found:
            self.console.print("nothing changes")
        elif not self._is_confirmed(found, "nothing was committed; the records are kept: --resume asks again, "
                                     "--resume --yes commits without grading again"):  # fmt: skip
            return 2
        for key in self.records.uncommitted_keys(round) & set(due):
            self._commit(round, key, writer)
        return self._end(round)

    def _is_confirmed(self, found: list[Change], otherwise: str) -> bool:
        """Whether the user, or --yes, accepts these changes; otherwise prints `otherwise`."""
        self.console.print(table(found))
        if self.options.yes:
            return True
        agreed = False
        if sys.stdin.isatty():
            with self.interrupt.interruptible():
                agreed = Confirm.ask(f"commit these {len(found)} changes?", console=self.console, default=False)
        if not agreed:
            self.console.print(otherwise, style="yellow")
        return agreed


__all__ = ["BadCourse", "CourseBusy", "Options", "PoolError", "grade"]
