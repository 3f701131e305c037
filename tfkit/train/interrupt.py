"""Delays Ctrl-C to the end of a training step, between two of which the state can be saved."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class DelayedInterrupt:
    """A `with` block that delays Ctrl-C until the next `check`; a second Ctrl-C is raised at once."""

    def __init__(self) -> None:
        self.requested = False

    def __enter__(self) -> DelayedInterrupt:
        if threading.current_thread() is threading.main_thread():  # other threads get no signals
            self.before = signal.signal(signal.SIGINT, self.handle)
        return self

    def __exit__(self, *error: object) -> None:
        if hasattr(self, "before"):
            signal.signal(signal.SIGINT, self.before)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """The handler of the signal."""
        again, self.requested = self.requested, True
        if again:
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raises KeyboardInterrupt if Ctrl-C was pressed since the block began."""
        if self.requested:
            raise KeyboardInterrupt
