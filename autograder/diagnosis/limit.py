"""A time limit that works in any thread, for code that may never end: two mistakes together may loop for ever."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any

SHORTEST = 0.002  # seconds between two looks at the clock
LOOKS = 8  # at the clock in the time of one of many blocks


class TimeLimitExceeded(BaseException):
    """The time is up. The stopped code can't catch it with `except Exception`."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimitExceeded in a block that needs more than `seconds` of the processor, so that a busy machine does
    not decide. A block that waits ends after ten times as long. It does not interrupt a call into C code. Where no
    thread can watch, as in a browser's tab, the functions that the block calls are traced."""
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

    closed, modes = threading.Event(), _modes()
    if not _starts(watch):
        with _traced(seconds):
            yield
        return
    try:
        yield
    finally:
        with lock:
            state["open"] = False
        closed.set()
        if state["fired"]:
            _await_exception(thread)
            _leave_modes(modes)


@contextmanager
def repeated_time_limit(seconds: float) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """`time_limit` for each of many blocks, one after the other, with one watcher for all of them: to start one takes
    longer than many a block."""
    watcher = _Watcher(seconds)
    is_watched = _starts(watcher.watch)
    try:
        yield watcher.limit if is_watched else lambda: _traced(seconds)
    finally:
        watcher.closed.set()


@contextmanager
def _traced(seconds: float) -> Iterator[None]:
    """The limit by a trace function, which looks at the clock at each line of the functions that the block calls. Code
    that swallows the exception goes on, and in a tab one presses Stop then."""
    before, end = sys.gettrace(), time.process_time() + seconds

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if time.process_time() >= end:
            raise TimeLimitExceeded
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def _starts(watch: Callable[[], None]) -> bool:
    """Whether a thread watches from now on."""
    try:
        threading.Thread(target=watch, daemon=True).start()
    except RuntimeError:  # can't start new thread
        return False
    return True


class _Watcher:
    def __init__(self, seconds: float) -> None:
        self.seconds, self.thread = seconds, threading.get_ident()
        self.spent = _clock_of(self.thread)
        self.lock, self.closed = threading.Lock(), threading.Event()
        self.ends: tuple[float, float] | None = None  # of the block that is open, in both clocks
        self.fired = False

    def watch(self) -> None:
        """Look at the clocks from time to time, until all is over."""
        while not self.closed.wait(max(self.seconds / LOOKS, SHORTEST)):
            with self.lock:
                if self.ends is not None and (self.spent() >= self.ends[0] or time.monotonic() >= self.ends[1]):
                    self.ends, self.fired = None, True
                    _raise_in(self.thread)

    @contextmanager
    def limit(self) -> Iterator[None]:
        """One block."""
        self.fired, modes = False, _modes()
        self.ends = self.spent() + self.seconds, time.monotonic() + 10 * self.seconds
        try:
            yield
        finally:
            with self.lock:
                self.ends = None
            if self.fired:
                _await_exception(self.thread)
                _leave_modes(modes)


def _modes() -> tuple[int, int]:
    """How many of torch's dispatch and function modes are on; none before it was imported, nor in a browser's tab."""
    inner = getattr(sys.modules.get("torch"), "_C", None)
    return (inner._len_torch_dispatch_stack(), inner._len_torch_function_stack()) if inner else (0, 0)


def _leave_modes(before: tuple[int, int]) -> None:
    """Leave the modes that the block entered: an exception that arrives as one is left leaves it on."""
    while (now := _modes())[0] > before[0]:
        sys.modules["torch"]._C._pop_torch_dispatch_stack(None)
    for _ in range(now[1] - before[1]):
        sys.modules["torch"]._C._pop_torch_function_stack()


def _clock_of(thread: int) -> Callable[[], float]:
    """The clock of the processor time of a thread; of wall time where the system has no such clock."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic
    try:
        clock = time.pthread_getcpuclockid(thread)
    except OSError:  # a browser's tab has the function, and no such clock
        return time.monotonic
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
