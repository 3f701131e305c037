"""The process that loads what a check needs, and forks one for each check that `fork.ForkServer` asks for."""

from __future__ import annotations

import gc
import importlib
import json
import os
import random
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import NoReturn

from autograder import sandbox
from autograder.checking.child import leave, load_essentials, load_remaining
from autograder.checking.fork import CHUNK, COMMAND
from autograder.exercises import registry

SUFFIXES = (".py", ".toml")  # of a unit's files; others are read when they are needed
RARE = "torch._dynamo"  # imported by torch.utils.checkpoint and torch.optim at their first use; takes some seconds
IDLE_S = 1.0


def main() -> None:
    """Loads what a check needs, and forks a process for each request until the socket is closed."""
    signal.signal(signal.SIGINT, lambda *_: None)  # a notebook's interrupt is meant for the cell that runs
    control, trust, load_error = socket.socket(fileno=int(sys.argv[1])), "--trust" in sys.argv, ""
    rest = load_remaining()
    try:
        load_essentials(trust, rest, one_thread=True)  # a fork after a multi-threaded region would hang
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
    folders = {exercise.folder for exercise in registry.exercises() if exercise.folder is not None}
    files = (file for folder in folders for file in folder.glob("*") if file.suffix in SUFFIXES)
    return {str(file): file.stat().st_mtime_ns for file in files}


def _load_again(control: socket.socket) -> NoReturn:
    """Starts this program anew. The request that has come stays in the socket."""
    sandbox.close_all()
    control.set_inheritable(True)
    os.execv(sys.executable, [*COMMAND, str(control.fileno()), *sys.argv[2:]])


def _serve(control: socket.socket, fds: list[int], own_group: bool, load_error: str) -> None:
    """Forks a process that is `autograder check` with the arguments that it reads from the first descriptor."""
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
    """Makes one check, and reports its exit code."""
    from autograder.checking import command

    random.seed()
    line, code = sys.stdin.readline(), 1
    if load_error:
        print(load_error, file=sys.stderr)
    elif line:  # an empty line: the requester is gone
        sandbox.adopt_all()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            code = command.check(json.loads(line))
        except BaseException:
            traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os.write(report, b"%d\n" % code)
    leave(code)


if __name__ == "__main__":
    main()
