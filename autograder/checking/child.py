"""The process that waits for one check: it loads what a check needs, reads its arguments, and is `autograder check`."""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import NoReturn

from autograder import sandbox
from autograder.exercises import registry

LATE = ("torch.fx.experimental.symbolic_shapes",)  # imported by few operations; takes 0.4 s with sympy


def load(trust: bool) -> None:
    """Loads a box, and whatever a check of any exercise would load. Raises ImportError without torch."""
    rest = load_remaining()
    load_essentials(trust, rest)
    for _ in rest:
        continue


def load_essentials(trust: bool, rest: Iterator[None], one_thread: bool = False) -> None:
    """Loads a box, and what every check needs; then as much of `rest` as is possible before the box is ready.

    one_thread: torch computes in one, from the beginning. Raises ImportError without torch."""
    with suppress(sandbox.SandboxError, ImportError):  # who asks will be told
        # before torch is imported here: a thread beside that import waits 5 ms for each file that it looks at
        sandbox.launch(trust)
    collects, box = gc.isenabled(), threading.Thread(target=_choose_box, args=(trust,))
    gc.disable()  # collecting while torch is imported takes a quarter of a second and finds nothing
    box.start()
    try:
        import torch

        if one_thread:
            torch.set_num_threads(1)
        from autograder.checking import command  # noqa: F401
        from autograder.grade import run  # noqa: F401

        while box.is_alive() and next(rest, "done") is None:
            continue
    finally:
        box.join()
        if collects:
            gc.enable()


def load_remaining() -> Iterator[None]:
    """Loads what only some checks use, a part at each step: every exercise's checks and reference, and LATE."""
    from autograder.checks.reference import reference_of

    with suppress(Exception):  # a unit that cannot be loaded: a check of its exercises will report it
        for exercise in registry.exercises():
            registry.check_function(exercise)
            reference_of(exercise)
            yield
    for name in LATE:
        with suppress(ImportError):
            importlib.import_module(name)
        yield


def _choose_box(trust: bool) -> None:
    with suppress(sandbox.SandboxError, ImportError):  # the check will report it
        sandbox.choose(trust=trust)


def main() -> None:
    """Loads what a check needs, waits for one line of arguments, and is `autograder check` from then on."""
    # a notebook's interrupt is meant for the cell that runs; with SIG_IGN the box's processes would ignore it for ever
    signal.signal(signal.SIGINT, lambda *_: None)
    load("--trust" in sys.argv)
    line = sys.stdin.readline()
    if not line:  # the process that started this one is gone
        return
    from autograder.checking import command

    signal.signal(signal.SIGINT, signal.default_int_handler)
    leave(command.check(json.loads(line)))


def leave(code: int) -> NoReturn:
    """Ends this process at once. Python would first free all that was loaded, which takes 0.8 s."""
    sandbox.close_all()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # nobody reads it any more
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
