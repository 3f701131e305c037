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

    def ring() -> None:
        with lock:
            if state["open"]:
                state["fired"] = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TimeLimitExceeded))

    timer = threading.Timer(seconds, ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    except TimeLimitExceeded:
        state["fired"] = False  # the exception has arrived
        raise
    finally:
        with lock:
            state["open"] = False
        timer.cancel()
        while state["fired"]:  # the exception is pending: it must not arrive later, in other code
            time.sleep(0.001)
