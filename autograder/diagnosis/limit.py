"""A time limit that works in any thread, for code that may never end: two mistakes together may loop for ever."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SHORTEST = 0.002  # seconds between two looks at the clock


class TimeLimitExceeded(BaseException):
    """The time is up. The stopped code can't catch it with `except Exception`."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitExceeded in a block that needs more than `seconds` of the processor, so that a busy machine does
    not decide. A block that waits ends after ten times as long. It does not interrupt a call into C code."""
    lock, state, thread = threading.Lock(), {"open": True, "fired": False}, threading.get_ident()
    spent, latest = _clock_of(thread), time.monotonic() + 10 * seconds
    end = spent() + seconds

    def watch() -> None:
        while not closed.wait(max(min(end - spent(), latest - time.monotonic()), SHORTEST)):
            if end <= spent() or latest <= time.monotonic():
                break
        with lock:
            if state["open"]:
                state["fired"] = True
                _raise_in(thread)

    closed = threading.Event()
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        with lock:
            state["open"] = False
        closed.set()
        if state["fired"]:
            _await_exception(thread)


def _clock_of(thread: int) -> Callable[[], float]:
    """The clock of the processor time of a thread; of wall time where the system has no such clock."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic
    clock = time.pthread_getcpuclockid(thread)
    return lambda: time.clock_gettime(clock)


def _await_exception(thread: int) -> None:
    """Let the exception arrive here, whether it is still on its way, has arrived, or was swallowed by the stopped code.

    Taking it back instead (by None) would leave the interpreter looking for it for ever: slower, and under a profile
    function Python 3.11 would not go on at all.
    """
    try:
        _raise_in(thread)  # in place of one that is on its way
        while True:
            time.sleep(0)
    except TimeLimitExceeded:
        return


def _raise_in(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TimeLimitExceeded))
