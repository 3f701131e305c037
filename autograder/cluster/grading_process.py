"""A process that only grades, beside a Dask worker: the worker hands it one bundle after the other.

A worker's event loop and its threads run beside the code that it is given, and draw random numbers, allocate memory and
change directories when they like. So torch, the references and the boxes live in a process of their own, which has one
thread, and which the worker keeps for all its bundles. It ends with the worker, however that ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe

from autograder.sandbox import SandboxError

COMMAND = (sys.executable, "-P", "-c", "from autograder.cluster.grading_process import main; main()")
LOOK_S = 0.5  # between two looks at the memory that the process holds
LARGEST_SHARE = 0.95  # of the worker's memory; Dask ends a worker that holds more than this
RECORD, ERROR = b"r", b"e"  # the first byte of an answer
PR_SET_PDEATHSIG = 1


class WrongVersion(RuntimeError):
    """This worker has a different version of the checks than the grader that sent the bundle."""


class GradingFailed(RuntimeError):
    """Grading a bundle raised an exception; the message is its type and text."""


class GradingProcessDied(RuntimeError):
    """The process ended while it graded a bundle."""


REASONS = {kind.__name__: kind for kind in (WrongVersion, SandboxError)}  # what the worker raises as it was


@dataclass(frozen=True)
class CourseKey:
    """The course key. Its repr hides it, because Dask prints arguments in its logs."""

    value: bytes = field(repr=False)


class GradingProcess:
    """One process that grades, started when it is needed, and again after it has died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # a Dask worker may have several threads; the process does one thing at a time
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Connection | None = None

    def grade(self, data: bytes, key: CourseKey, most_bytes: int | None = None) -> bytes:
        """The record of a bundle. A process that holds more than `most_bytes` of memory is ended.

        Raises WrongVersion or SandboxError as `job.grade` does, GradingFailed for any other exception of it, and
        GradingProcessDied.
        """
        return self._ask((b"grade", key.value, data), most_bytes)

    def warm_up(self) -> str:
        """Start the process, load torch and start a box in it; returns `host:process`. Raises as `grade`."""
        return self._ask((b"warm", b"", b""), None).decode()

    def close(self) -> None:
        """End the process; the next bundle starts a new one."""
        with self._lock:
            self._end()

    def _ask(self, message: tuple[bytes, ...], most_bytes: int | None) -> bytes:
        with self._lock:
            process, channel = self._started()
            try:
                for part in message:
                    channel.send_bytes(part)
                while not channel.poll(LOOK_S):
                    if most_bytes is not None and _held(process.pid) > most_bytes:
                        process.kill()
                answer = channel.recv_bytes()
            except (EOFError, OSError) as error:
                self._end()
                raise GradingProcessDied(f"the grading process ended with {process.returncode}") from error
        if answer[:1] == RECORD:
            return answer[1:]
        kind, text = json.loads(answer[1:])
        raise REASONS.get(kind, GradingFailed)(text)

    def _started(self) -> tuple[subprocess.Popen[bytes], Connection]:
        if self._process is not None and self._process.poll() is None and self._channel is not None:
            return self._process, self._channel
        self._end()
        self._channel, child_end = Pipe()
        # it finds the same modules as this process, whose path may have been changed since it started
        env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with child_end:
            words = [*COMMAND, str(child_end.fileno()), str(os.getpid())]
            self._process = subprocess.Popen(words, pass_fds=[child_end.fileno()], stdin=subprocess.DEVNULL, env=env)
        return self._process, self._channel

    def _end(self) -> None:
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = self._channel = None


def _held(pid: int) -> int:
    """The bytes of memory that the process holds; 0 if it has ended."""
    import psutil  # here, as the records are read on machines without workers too

    with suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


_own = GradingProcess()  # of this worker


def grade(data: bytes, key: CourseKey) -> bytes:
    """What Dask calls: the record of a bundle, graded in this worker's own process. Raises as GradingProcess.grade."""
    return _own.grade(data, key, _most_bytes())


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker decides when to stop
    _end_with(int(sys.argv[2]))
    with Connection(int(sys.argv[1])) as channel:
        while True:
            try:
                what, key, data = (channel.recv_bytes() for _ in range(3))
            except (EOFError, OSError, ValueError):
                return
            channel.send_bytes(_answer(what, CourseKey(key), data))


def _answer(what: bytes, key: CourseKey, data: bytes) -> bytes:
    from autograder.cluster import job

    try:
        return RECORD + (job.warm_up().encode() if what == b"warm" else job.grade(data, key))
    except Exception as error:  # each costs one submission, and is reported with it
        known = next((name for name, kind in REASONS.items() if isinstance(error, kind)), "")
        text = str(error) if known else f"{type(error).__name__}: {error}"
        return ERROR + json.dumps([known, text]).encode()


def _end_with(parent: int) -> None:
    """End when the worker does, even in the middle of a submission. Other systems than Linux finish the submission."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it has ended before it could be told
        sys.exit()
