"""A time limit that works in any thread, for code that may never end: two mistakes together may loop for ever."""

from __future__ import annotations

import ctypes
import threading
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
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TimeLimitExceeded))

    timer = threading.Timer(seconds, on_timeout)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            state["open"] = False
        timer.cancel()
        if state["fired"]:  # it has arrived, was swallowed by the stopped code, or must not arrive later, in other code
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)
