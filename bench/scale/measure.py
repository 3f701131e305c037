"""The cost of a check, a submission, its page and its rows in CPU seconds, which other load affects least."""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import psutil
from rich.console import Console

from bench.grading import BENCH_EXERCISES, BOXES, UNIT, Bench, stopwatches


@dataclass(frozen=True)
class ServiceTimes:
    """CPU seconds: of one exercise's check, a submission's grading, its feedback page, its gradebook rows and files.

    Each is a sample; `look` is one poll of the service on a course without new submissions.
    """

    machine: str
    measured: str
    unit: str
    check: list[float]
    grade: list[float]
    feedback: list[float]
    write: list[float]
    look: list[float]


def measure(number: int, console: Console) -> ServiceTimes:
    """Grade `number` submissions of the mock class in one warm process, and time each step."""
    with tempfile.TemporaryDirectory(prefix="scale") as folder:
        bench = Bench(Path(folder), number, console)
        console.print(f"sending in {number} submissions of {UNIT}")
        bench.prepare()
        # what `nbgrader submit` writes, for the feedback's name
        for submitted in bench.course.glob(f"submitted/*/{UNIT}"):
            (submitted / "timestamp.txt").write_text("2026-09-01 12:00:00.000000 UTC")
            (submitted / "submission_secret.txt").write_text(submitted.parent.name)
        check, grade, write = _grading(bench.course, console)
        return ServiceTimes(
            f"{platform.machine()}, {psutil.cpu_count()} cores", date.today().isoformat(), UNIT, check, grade,
            _feedback(bench.course, number, console), write, _looks(bench.course),
        )  # fmt: skip


def _cost(what: Callable[[], object]) -> float:
    """CPU seconds of this process and of the boxes in it."""
    with stopwatches() as spent:
        before = time.process_time()
        what()
        own = time.process_time() - before
    return own + spent[BOXES].cpu


def _grading(root: Path, console: Console) -> tuple[list[float], list[float], list[float]]:
    """Checks, submissions and writes; the first of each, which loads modules, is not counted."""
    from autograder.cluster import job
    from autograder.cluster.course import Course
    from autograder.cluster.gradebook import GradebookWriter
    from autograder.cluster.records import Records
    from autograder.grade import run
    from autograder.sandbox import choose

    course, backend = Course(root, UNIT), choose()
    checks, grades, writes = [], [], []
    with Records(root) as records, GradebookWriter(course) as writer:
        round = records.begin_round(UNIT, regrade=False)
        for submission in course.submissions():
            data = course.bundle(submission)
            found: list[job.GradingRecord] = []
            grades.append(_cost(lambda: found.append(job.GradingRecord.from_bytes(job.grade(data)))))  # noqa: B023
            started = time.process_time()
            records.add(round, found[0])
            writer.write(found[0], submission.folder)
            records.mark_committed(round, found[0].key)
            writes.append(time.process_time() - started)
            console.print(f"{submission.key.student}: {grades[-1]:.2f} s, written in {1000 * writes[-1]:.0f} ms")
        records.end_round(round, "committed")
    for path in sorted((root / "submitted").glob(f"*/{UNIT}/*.ipynb")):
        import nbformat

        nb = nbformat.read(path, as_version=4)
        for exercise in BENCH_EXERCISES:
            checks.append(_cost(lambda: run.grade_notebook(nb, [exercise], student="s", backend=backend)))  # noqa: B023
    return checks[1:], grades[1:], writes[1:]


def _feedback(root: Path, number: int, console: Console) -> list[float]:
    from autograder.serve.feedback import give_feedback

    found = [_cost(lambda: give_feedback(root, UNIT, f"s{n:03}")) for n in range(number)]  # noqa: B023
    console.print(f"feedback: {found[-1]:.2f} s")
    return found[1:]


def _looks(root: Path, times: int = 5) -> list[float]:
    """Seconds of each poll of an exchange without new submissions."""
    from autograder.serve.course import ServedCourse
    from tfkit_course.interrupt import Interrupt

    (root / "exchange/tfkit/inbound").mkdir(parents=True)
    course = ServedCourse(root, None, lambda *_: iter(()), Console(quiet=True), Interrupt())  # type: ignore[arg-type]
    found = []
    for _ in range(times + 1):
        course._collect(UNIT)
        started = time.process_time()
        course._collect(UNIT)
        course._queue_new(UNIT)
        found.append(time.process_time() - started)
    return found[1:]
