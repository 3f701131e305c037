"""N real submissions graded by one run of `autograder grade`, and the memory that its processes take meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console

from autograder.cluster.command import STOPPED
from bench.grading import UNIT, Bench

MIB = 2**20


@dataclass(frozen=True)
class MemorySample:
    """After `graded` submissions: resident MiB of the grader, and of all its workers and their boxes."""

    graded: int
    grader_mib: float
    workers_mib: float


@dataclass(frozen=True)
class RealRun:
    """The numbers of submissions and workers of a run, and the memory after every 1 % of it."""

    unit: str
    handed_in: int
    submissions: int
    workers: int
    seconds: float
    samples: list[MemorySample]

    @property
    def rate(self) -> float:
        """Submissions per minute."""
        return 60 * self.submissions / self.seconds


def run(number: int, workers: int, minutes: float, console: Console) -> RealRun:
    """Hand in and grade `number` submissions, or as many as the minutes allow; Ctrl-C ends it and keeps what there is.
    Raises RuntimeError if the run failed."""
    with tempfile.TemporaryDirectory(prefix="scale") as folder:
        bench = Bench(Path(folder), number, console)
        console.print(f"sending in {number} submissions of {UNIT}")
        bench.prepare()
        call = [sys.executable, "-m", "autograder", "grade", str(bench.course), UNIT, "--workers", str(workers)]
        started = time.monotonic()
        # a process group of its own: Ctrl-C reaches it through us, once
        process = subprocess.Popen(call, env=bench.env, stdout=subprocess.PIPE, text=True, process_group=0)
        with _passed_on(process, console):
            samples = _watch(process, started + 60 * minutes, max(1, number // 100), console)
        seconds = time.monotonic() - started
        graded = samples[-1].graded if samples else 0
        if process.wait() != (0 if graded == number else STOPPED) or not graded:
            raise RuntimeError(f"`autograder grade` ended with {process.returncode}, {graded} graded")
        return RealRun(UNIT, number, graded, workers, seconds, samples)


@contextmanager
def _passed_on(process: subprocess.Popen[str], console: Console) -> Iterator[None]:
    """A block in which Ctrl-C asks the grader to stop, once, and its last records are still read."""
    stopping = False

    def ask(*_: object) -> None:
        nonlocal stopping
        if not stopping:
            console.print("stopping after the submissions that are being graded")
            process.send_signal(signal.SIGINT)
        stopping = True

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _watch(process: subprocess.Popen[str], until: float, every: int, console: Console) -> list[MemorySample]:
    """A sample after each `every` records and after the last; when the time is up, the grader is asked to stop."""
    assert process.stdout is not None
    watched, graded = psutil.Process(process.pid), 0
    samples = [MemorySample(0, 0.0, 0.0)]
    for line in process.stdout:
        if line[:1] not in "✓✗?":
            continue
        graded += 1
        sample = MemorySample(graded, *_memory(watched))
        if time.monotonic() > until:
            process.send_signal(signal.SIGINT)
            until = float("inf")
        if samples[-1].graded % every:  # the latest one, which the next replaces
            samples.pop()
        samples.append(sample)
        if graded % (10 * every) == 0:
            console.print(f"{graded}: {sample.grader_mib:.0f} MiB, its workers {sample.workers_mib:.0f} MiB")
    return samples[1:]


def _memory(grader: psutil.Process) -> tuple[float, float]:
    """Resident MiB of the grader, and of the processes below it, boxes among them."""
    below = 0
    for one in grader.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            below += one.memory_info().rss
    return grader.memory_info().rss / MIB, below / MIB
