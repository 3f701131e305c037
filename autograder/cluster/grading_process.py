"""A process that only grades, beside a Dask worker: the worker hands it one bundle after the other.

A worker's event loop and its threads run beside the code that it is given, so the grader has a process of its own
(`grade.process`), which the worker keeps for all its bundles.
"""

from __future__ import annotations

import os
import socket
import sys

from autograder.grade.process import GradingFailed, GradingProcessDied, WorkerProcess, serve
from autograder.sandbox import SandboxError

COMMAND = (sys.executable, "-P", "-c", "from autograder.cluster.grading_process import main; main()")
LARGEST_SHARE = 0.95  # of the worker's memory; Dask ends a worker that holds more than this


class WrongVersion(RuntimeError):
    """This worker has a different version of the checks than the grader that sent the bundle."""


REASONS = {kind.__name__: kind for kind in (WrongVersion, SandboxError)}  # what the worker raises as it was


class GradingProcess:
    """One process that grades, started when it is needed, and again after it has died."""

    def __init__(self) -> None:
        self._process = WorkerProcess(COMMAND, REASONS)

    def grade(self, data: bytes, most_bytes: int | None = None) -> bytes:
        """The record of a bundle. A process that holds more than `most_bytes` of memory is ended.

        Raises WrongVersion or SandboxError as `job.grade` does, GradingFailed for any other exception of it, and
        GradingProcessDied.
        """
        return self._process.ask((b"grade", data), most_bytes)

    def warm_up(self) -> str:
        """Start the process, load torch and start a box in it; returns `host:process`. Raises as `grade`."""
        return self._process.ask((b"warm", b"")).decode()

    def close(self) -> None:
        """End the process; the next bundle starts a new one."""
        self._process.close()


_own = GradingProcess()  # of this worker


def grade(data: bytes) -> bytes:
    """What Dask calls: the record of a bundle, graded in this worker's own process. Raises as GradingProcess.grade."""
    return _own.grade(data, _most_bytes())


def warm_up() -> str:
    """What Dask calls: have everything loaded before there is anything to grade. Raises as GradingProcess.warm_up."""
    return _own.warm_up()


def _most_bytes() -> int | None:
    """How much memory the process may hold: as much as Dask lets this worker have; None where it sets no limit."""
    from distributed import get_worker

    try:
        limit = get_worker().memory_manager.memory_limit
    except ValueError:  # this is no worker
        return None
    return int(LARGEST_SHARE * limit) if limit else None


def worker_name() -> str:
    """`host:process`, for messages and records."""
    return f"{socket.gethostname()}:{os.getpid()}"


def main() -> None:
    """Grade what comes through the descriptor of the first argument until it is closed."""
    serve(_answer, 2, REASONS)


def _answer(what: bytes, data: bytes) -> bytes:
    from autograder.cluster import job

    return job.warm_up().encode() if what == b"warm" else job.grade(data)


__all__ = ["GradingFailed", "GradingProcess", "GradingProcessDied", "WrongVersion", "grade", "warm_up"]
