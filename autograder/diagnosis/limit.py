"""An end to what may run for ever, in any thread: two mistakes that end by themselves need not end together."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class TimeLimitExceeded(BaseException):
    """The time is over. No `except Exception` of the code that is stopped holds it up."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitExceeded in a block that runs longer than `seconds`. A call of C code is not interrupted."""
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
        state["fired"] = False  # it has arrived
        raise
    finally:
        with lock:
            state["open"] = False
        timer.cancel()
        while state["fired"]:  # on its way: it must not arrive later, in somebody else's code
            time.sleep(0.001)
