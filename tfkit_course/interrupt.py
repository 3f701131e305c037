"""Delays Ctrl-C to a safe moment. Python raises it between any two lines: in the middle of a write, or inside a
callback of the garbage collector (Dask has one in every process), where it would be printed and ignored."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """A `with` block that delays Ctrl-C until the next `check`; a second Ctrl-C is raised at once. requested: whether
    it was pressed."""

    def __init__(self) -> None:
        self.requested = self._at_once = False

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():  # other threads can't receive or set up signals
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        if hasattr(self, "_before"):
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        again, self.requested = self.requested, True
        if again or self._at_once:
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raises KeyboardInterrupt if Ctrl-C was pressed since the block began."""
        if self.requested:
            raise KeyboardInterrupt

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """A block that only waits and writes nothing, in which Ctrl-C is raised as soon as it is pressed."""
        self._at_once = True
        try:
            self.check()  # raises a Ctrl-C from before the block
            yield
        finally:
            self._at_once = False
        self.check()  # in case the exception was lost after all
