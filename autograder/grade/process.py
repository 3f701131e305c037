"""A process that grades for another one, a request after the other, and has one thread.

Threads beside a grader draw random numbers, allocate memory and change directories when they like. So torch, the
references and the boxes live in a process of their own, which is kept for all requests and ends with the one that
started it, however that ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

LOOK_S = 0.5  # between two looks at the memory that the process holds
RECORD, ERROR = b"r", b"e"  # the first byte of an answer
NUMBER_BYTES = 8  # of a request's number, the first part of it and of its answer
PR_SET_PDEATHSIG = 1
Reasons = Mapping[str, type[Exception]]  # name -> an exception that passes from one process to the other as it is


class GradingFailed(RuntimeError):
    """The request raised an exception; the message is its type and text."""


class GradingProcessDied(RuntimeError):
    """The process ended, or was ended, while it worked on a request."""


class WorkerProcess:
    """One process that grades, started when it is needed, and again after it has died.

    command: what starts it; the last two words that it gets are for `serve`.
    """

    def __init__(self, command: Sequence[str], reasons: Reasons) -> None:
        self._command, self._reasons = command, reasons
        self._lock = threading.Lock()  # its owner may have several threads; the process does one thing at a time
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Connection | None = None
        self._asked = 0  # how many requests; each has its number, which its answer repeats

    def ask(self, message: Sequence[bytes], most_bytes: int | None = None, most_s: float | None = None) -> bytes:
        """The answer to a request. A process that holds more than `most_bytes` of memory, or takes longer than `most_s`
        seconds, is ended, and so is one of which an exception, such as KeyboardInterrupt, keeps this call from waiting.

        Raises one of `reasons` as it was, GradingFailed for any other exception, and GradingProcessDied.
        """
        with self._lock:
            process, channel = self._started()
            try:
                answer = self._exchange(process, channel, message, most_bytes, most_s)
            except BaseException as error:  # an interrupt, too: its answer would be taken for that of the next request
                self._end()
                # a time limit of the owner's is an OSError as well, though none of the pipe
                if isinstance(error, EOFError | OSError) and not isinstance(error, TimeoutError):
                    raise GradingProcessDied(f"the grading process ended with {process.returncode}") from error
                raise
        if answer[:1] == RECORD:
            return answer[1:]
        kind, text = json.loads(answer[1:])
        raise self._reasons.get(kind, GradingFailed)(text)

    def _exchange(
        self, process: subprocess.Popen[bytes], channel: Connection, message: Sequence[bytes],
        most_bytes: int | None, most_s: float | None,
    ) -> bytes:  # fmt: skip
        self._asked += 1
        number = self._asked.to_bytes(NUMBER_BYTES)
        end = None if most_s is None else time.monotonic() + most_s
        for part in (number, *message):
            channel.send_bytes(part)
        while not channel.poll(LOOK_S):
            late = end is not None and time.monotonic() > end
            if late or (most_bytes is not None and _held(process.pid) > most_bytes):
                process.kill()
        answer = channel.recv_bytes()
        if answer[:NUMBER_BYTES] != number:
            raise GradingProcessDied("the grading process answered another request, and was ended")
        return answer[NUMBER_BYTES:]

    def close(self) -> None:
        """End the process, with the request that it works on; the next request starts a new one."""
        if (process := self._process) is not None:
            process.kill()  # so that a thread that waits for it ends, and gives up the lock
        with self._lock:
            self._end()

    def _started(self) -> tuple[subprocess.Popen[bytes], Connection]:
        if self._process is not None and self._process.poll() is None and self._channel is not None:
            return self._process, self._channel
        self._end()
        self._channel, child_end = Pipe()
        # it finds the same modules as this process, whose path may have been changed since it started
        env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with child_end:
            words = [*self._command, str(child_end.fileno()), str(os.getpid())]
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
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    if os.path.exists("/proc/self/statm"):
        return 0
    import psutil  # here, as Linux needs none

    with suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


def serve(answer: Callable[..., bytes], parts: int, reasons: Reasons) -> None:
    """In the process: answer requests of so many parts, from the descriptor of the last but one argument, until it is
    closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its owner decides when to stop
    _end_with(int(sys.argv[-1]))
    with Connection(int(sys.argv[-2])) as channel:
        while True:
            try:
                number, *message = [channel.recv_bytes() for _ in range(1 + parts)]
            except (EOFError, OSError, ValueError):
                return
            channel.send_bytes(number + _answer(answer, message, reasons))


def _answer(answer: Callable[..., bytes], message: Sequence[bytes], reasons: Reasons) -> bytes:
    try:
        return RECORD + answer(*message)
    except Exception as error:  # each costs one request, and is reported with it
        known = next((name for name, kind in reasons.items() if isinstance(error, kind)), "")
        text = str(error) if known else f"{type(error).__name__}: {error}"
        return ERROR + json.dumps([known, text]).encode()


def _end_with(parent: int) -> None:
    """End when the owner does, even in the middle of a request. Other systems than Linux finish the request."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it has ended before it could be told
        sys.exit()
