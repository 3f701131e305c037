"""Checks that start at once: one process loads torch, the exercises and a box's process, and forks for each check.

    server = ForkServer("--trust")
    with server.process() as process:
        out, err = process.communicate(request(["masks.causal", "mine.py", "--json"]), timeout=300)

It has the interface of `processes.WarmProcesses`, whose processes serve one check each and take seconds to replace.
Here the process that loads serves no check itself. A file of a unit that changes makes it load everything again.
"""

from __future__ import annotations

import array
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from autograder.checking.processes import WAIT_S, WarmProcesses

COMMAND = (sys.executable, "-P", "-m", "autograder.checking.fork_child")
SUPPORTED = sys.platform == "linux"
CHUNK = 1 << 16


class ForkedProcess:
    """One check, forked by the server's process: what the rest of the code uses of `subprocess.Popen`.

    It reports its process id when it starts and its exit code at its end, since only its own parent can wait for it.
    One thread at a time reads and closes the pipes. `kill` wakes the one that waits in `communicate` with a byte in a
    pipe of its own: closing a descriptor wakes nobody, and its number could be another check's a moment later.
    """

    def __init__(self, server: socket.socket, own_group: bool) -> None:
        pipes = [os.pipe() for _ in range(4)]
        self._stdin, (self._stdout, self._stderr, self._report) = pipes[0][1], [one for one, _ in pipes[1:]]
        child_ends = [pipes[0][0], *(other for _, other in pipes[1:])]
        self._own_group = own_group
        self._texts: dict[int, bytes] = {self._stdout: b"", self._stderr: b"", self._report: b""}
        self._open = set(self._texts)
        self._wake, self._waker = os.pipe()
        self._lock, self._killed, self._closed = threading.RLock(), False, False
        self.returncode: int | None = None
        try:
            message = json.dumps({"own_group": own_group}).encode()
            server.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", child_ends))])
        except OSError:
            self.close()
            raise
        finally:
            for fd in child_ends:
                os.close(fd)

    @property
    def pid(self) -> int | None:
        """Its process id, as soon as it has started."""
        self._read_available()
        fields = self._texts[self._report].split()
        return int(fields[0]) if fields else None

    def communicate(self, text: str | None = None, timeout: float | None = None) -> tuple[str, str]:
        """Sends `text`, and returns standard output and error, of a killed process those up to then.

        Raises TimeoutExpired; it can then be called again.
        """
        with self._lock:
            if text is not None and self._stdin >= 0:
                with suppress(BrokenPipeError):
                    os.write(self._stdin, text.encode())  # a line of arguments, which fits in a pipe
            self._shut_stdin()
            self._read_all(timeout)
            out, err = (self._texts[fd].decode("utf-8", "replace") for fd in (self._stdout, self._stderr))
        return out, err

    def poll(self) -> int | None:
        """Its exit code; None while it runs. A process that did not report one was killed."""
        self._read_available()
        return self.returncode

    def kill(self) -> None:
        """Kills it, with its group where it has its own; one that has not started ends when it reads no arguments."""
        self._killed = True
        if not self._closed:
            os.write(self._waker, b"k")
        with self._lock:
            self._shut_stdin()
            if self.poll() is None and self.pid is not None:
                with suppress(ProcessLookupError):
                    (os.killpg if self._own_group else os.kill)(self.pid, signal.SIGKILL)
                    self.returncode = -signal.SIGKILL

    def close(self) -> None:
        """Closes its pipes; a thread that is in `communicate` is waited for, so call `kill` first."""
        with self._lock:
            self._shut_stdin()
            self._open.clear()
            if not self._closed:
                self._closed = True
                for fd in (*self._texts, self._wake, self._waker):
                    os.close(fd)

    def _shut_stdin(self) -> None:
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1

    def _read_all(self, timeout: float | None) -> None:
        """Reads until the end of all pipes, or until the process is killed. Raises TimeoutExpired."""
        end = None if timeout is None else time.monotonic() + timeout
        while self._open and not self._killed:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired("autograder", timeout or 0.0)
            self._read(left)

    def _read_available(self) -> None:
        """Reads what has come, unless a thread waits in `communicate`: it reads everything as it comes."""
        if self._lock.acquire(blocking=False):
            try:
                self._read(0)
            finally:
                self._lock.release()

    def _read(self, seconds: float | None) -> None:
        """Reads what has come on any pipe, waiting for it for so long, or until the process is killed."""
        if not self._open:
            return
        with selectors.DefaultSelector() as selector:
            for fd in (*self._open, self._wake):
                selector.register(fd, selectors.EVENT_READ)
            for fd in {key.fd for key, _ in selector.select(seconds)} & self._open:
                if found := os.read(fd, CHUNK):
                    self._texts[fd] += found
                else:
                    self._open.discard(fd)
        if self._report not in self._open and self.returncode is None:
            fields = self._texts[self._report].split()
            self.returncode = int(fields[1]) if len(fields) > 1 else -signal.SIGKILL


class ForkServer:
    """Starts the process that forks, and again if it has ended. It ends after WAIT_S without a request."""

    def __init__(self, *options: str, own_group: bool = False) -> None:
        self._options, self._own_group = options, own_group
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(0, lambda: None)

    @contextmanager
    def process(self) -> Iterator[ForkedProcess]:
        """A process that waits for its arguments. It is killed at the end of the block if it still runs."""
        process = self._fork()
        try:
            yield process
        finally:
            process.kill()
            process.close()
            self._wait_again()

    def prepare(self) -> None:
        """Starts loading, unless that is done already."""
        with self._lock:
            self._start()
        self._wait_again()

    def close(self) -> None:
        """Ends the process that forks. Checks that run go on."""
        with self._lock:
            self._timer.cancel()
            self._end()

    def _fork(self) -> ForkedProcess:
        with self._lock:
            try:
                return ForkedProcess(self._start(), self._own_group)
            except OSError:  # it died a moment ago
                self._end()
                return ForkedProcess(self._start(), self._own_group)

    def _start(self) -> socket.socket:
        if self._socket is not None and self._server is not None and self._server.poll() is None:
            return self._socket
        self._end()
        own_end, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with child_end:
            self._server = subprocess.Popen(
                [*COMMAND, str(child_end.fileno()), *self._options],
                pass_fds=[child_end.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._socket = own_end
        return own_end

    def _end(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if self._server is not None:
            self._server.kill()
            self._server.wait()
        self._socket = self._server = None

    def _wait_again(self) -> None:
        with self._lock:
            self._timer.cancel()
            self._timer = threading.Timer(WAIT_S, self.close)
            self._timer.daemon = True
            self._timer.start()


def check_processes(*options: str, own_group: bool = False) -> ForkServer | WarmProcesses:
    """The fastest source of processes for checks on this system."""
    return (ForkServer if SUPPORTED else WarmProcesses)(*options, own_group=own_group)
