"""A time limit that works in any thread, for code that may never end: two mistakes together may loop for ever."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class TimeLimitExceeded(BaseException):
    """The time is up. The stopped code can't catch it with `except Exception`."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitExceeded in a block that runs longer than `seconds`. It does not interrupt a call into C code."""
    lock, state, thread = threading.Lock(), {"open": True, "fired": False}, threading.get_ident()

    def on_timeout() -> None:
        with lock:
            if state["open"]:
                state["fired"] = True
                _raise_in(thread)

    timer = threading.Timer(seconds, on_timeout)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            state["open"] = False
        timer.cancel()
        if state["fired"]:
            _await_exception(thread)


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
