"""Checks that start at once: one process loads torch, the exercises and a box's process, and forks for each check.

    server = ForkServer("--trust")
    with server.process() as process:
        out, err = process.communicate(request(["check", "masks.causal", "mine.py", "--json"]), timeout=300)

It has the interface of `warm.WarmProcesses`, whose processes serve one check each and take seconds to replace. Here the
process that loads serves no check itself. A file of a unit that changes makes it load everything again.
"""

from __future__ import annotations

import array
import gc
import importlib
import json
import os
import random
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from autograder.warm import WAIT_S, WarmProcesses, leave, load_essentials, load_remaining

COMMAND = (sys.executable, "-P", "-m", "autograder.fork_server")
SUPPORTED = sys.platform == "linux"
SUFFIXES = (".py", ".toml")  # of a unit's files; others are read when they are needed
CHUNK = 1 << 16
RARE = "torch._dynamo"  # imported by torch.utils.checkpoint and torch.optim at their first use; takes some seconds
IDLE_S = 1.0


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


def main() -> None:
    """Loads what a check needs, and forks a process for each request until the socket is closed."""
    from autograder import sandbox

    signal.signal(signal.SIGINT, lambda *_: None)  # a notebook's interrupt is meant for the cell that runs
    control, trust, load_error = socket.socket(fileno=int(sys.argv[1])), "--trust" in sys.argv, ""
    rest = load_remaining()
    sandbox.launch(trust)  # first of all: the box's process needs as long as this one to load torch
    try:
        import torch

        torch.set_num_threads(1)  # a fork after a multi-threaded region would hang
        load_essentials(trust, rest)
    except ImportError:
        load_error = traceback.format_exc()
    loaded_from = {} if load_error else unit_files()
    pauses = iter(()) if load_error else _load_in_pauses(rest)
    gc.freeze()  # else a collection in a fork would copy all that was loaded
    pause_s: float | None = IDLE_S
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            if not selector.select(pause_s):
                pause_s = next(pauses, None)
                continue
            if not load_error and (unit_files() != loaded_from or not sandbox.all_alive()):
                _load_again(control)
            message, fds, _, _ = socket.recv_fds(control, CHUNK, 4)
            if not message:
                return
            _serve(control, fds, json.loads(message)["own_group"], load_error)
            pause_s = pause_s if pause_s is None else IDLE_S
            if load_error:  # the missing package may be installed before the next request
                return


def _load_in_pauses(rest: Iterator[None]) -> Iterator[float]:
    """Loads what only some checks use, while there is no request: yields the time to wait before each next part.

    A request that comes meanwhile is served between two parts.
    """
    for _ in rest:
        yield 0.0
    with suppress(ImportError):
        importlib.import_module(RARE)
    gc.collect()
    gc.freeze()


def unit_files() -> dict[str, int]:
    """The files of the units that can be checked, each with the time of its last change."""
    from autograder import registry

    folders = {exercise.folder for exercise in registry.exercises() if exercise.folder is not None}
    files = (file for folder in folders for file in folder.glob("*") if file.suffix in SUFFIXES)
    return {str(file): file.stat().st_mtime_ns for file in files}


def _load_again(control: socket.socket) -> NoReturn:
    """Starts this program anew. The request that has come stays in the socket."""
    from autograder import sandbox

    sandbox.close_all()
    control.set_inheritable(True)
    os.execv(sys.executable, [*COMMAND, str(control.fileno()), *sys.argv[2:]])


def _serve(control: socket.socket, fds: list[int], own_group: bool, load_error: str) -> None:
    """Forks a process that is `autograder` with the arguments that it reads from the first descriptor."""
    while True:  # those that have ended
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                break
        except ChildProcessError:
            break
    if os.fork():
        for fd in fds:
            os.close(fd)
        return
    try:
        control.close()
        if own_group:
            os.setsid()
        for place, fd in enumerate(fds[:3]):
            os.dup2(fd, place)
            os.close(fd)
        os.write(fds[3], b"%d\n" % os.getpid())
        _check(fds[3], load_error)
    finally:
        os._exit(1)


def _check(report: int, load_error: str) -> NoReturn:
    """Runs one command of `autograder`, and reports its exit code."""
    from autograder import cli, sandbox

    random.seed()
    line, code = sys.stdin.readline(), 1
    if load_error:
        print(load_error, file=sys.stderr)
    elif line:  # an empty line: the requester is gone
        sandbox.adopt_all()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            cli.main(json.loads(line))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os.write(report, b"%d\n" % code)
    leave(code)


if __name__ == "__main__":
    main()
