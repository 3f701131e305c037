"""Checks in processes that have loaded torch and started a box in advance, each for one check.

    warm = WarmProcesses("--trust")
    with warm.process() as process:
        out, err = process.communicate(request(["masks.causal", "mine.py", "--json"]), timeout=300)

A check of a few tensors takes less time than its imports. So two processes wait for their arguments on standard input,
and the second of two checks in a row also finds one that is ready. A used process is replaced when it has ended, or at
once if no other waits. `prepare` starts them before the first request.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from tfkit_course import install

# -P: nothing is imported from where the notebook lies
COMMAND = (sys.executable, "-P", "-m", "autograder.checking.child")
WAIT_S = 600.0  # processes are ended, and their memory freed, after that long without a request
N_WAITING = 1 if "JUPYTERHUB_USER" in os.environ else 2  # on a hub, each user has some

MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
GROUPS = hasattr(os, "killpg")  # not on Windows

Process = subprocess.Popen[str]


class WarmProcesses:
    """Processes for one command each, so that a cell that breaks one breaks no other; N_WAITING of them are ready."""

    def __init__(self, *options: str, own_group: bool = False) -> None:
        self._options, self._own_group = options, own_group
        self._lock = threading.Lock()
        self._waiting: list[Process] = []
        self._timer = threading.Timer(0, lambda: None)

    @contextmanager
    def process(self) -> Iterator[Process]:
        """A process that reads its arguments from `request`. After the block it has ended, with its own process group.

        Processes that were taken are replaced.
        """
        process = self._taken() or self._started()
        try:
            if not self._waiting:  # otherwise starting another one would slow this one down
                self.prepare()
            yield process
        finally:
            self._end(process)
            self.prepare()  # one may have died, or been closed meanwhile

    def prepare(self) -> None:
        """Starts processes until N_WAITING are ready."""
        with self._lock:
            self._timer.cancel()
            self._waiting = [process for process in self._waiting if process.poll() is None]
            while len(self._waiting) < N_WAITING:
                self._waiting.append(self._started())
            self._timer = threading.Timer(WAIT_S, self.close)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        """Ends the waiting processes. They also end by themselves when the process that started them ends."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            self._timer.cancel()
        for process in waiting:
            self._end(process)

    def _taken(self) -> Process | None:
        """The one that has waited longest and still lives."""
        with self._lock:
            while self._waiting:
                process = self._waiting.pop(0)
                if process.poll() is None:
                    return process
                self._end(process)
        return None

    def _started(self) -> Process:
        return subprocess.Popen(
            [*COMMAND, *self._options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8", errors="replace", start_new_session=self._own_group,
        )  # fmt: skip

    def _end(self, process: Process) -> None:
        if process.poll() is None:
            with suppress(ProcessLookupError):  # it ends at this moment
                os.killpg(process.pid, signal.SIGKILL) if self._own_group and GROUPS else process.kill()
        process.wait()


def request(arguments: Sequence[str]) -> str:
    """What a waiting process reads: the arguments of `autograder check`."""
    return json.dumps(list(arguments)) + "\n"


def explain_failure(err: str) -> str:
    """Why a process gave no verdict, from its standard error: a sentence for the student, or else its last line."""
    last = (err.strip().splitlines() or ["the autograder gave no verdict and no reason"])[-1]
    if lacks := MISSING.fullmatch(last.strip()):
        return (
            f"checks need the Python package {lacks[1]}, which {sys.executable} does not have: install the course's "
            f"packages there ({install()}), or ask the administrator of this server to do so, and check again"
        )
    return last[:500]
