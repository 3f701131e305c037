"""So much work of this thread and of a box, measured so that a busy machine does not decide."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from autograder.sandbox.client import SandboxClient


class WorkTime:
    """Seconds of the processor that this thread and the subject's box may use from now on; by the wall's clock where
    nobody counts the box's.

    Code that waits uses none: of a box its own limits end that.
    """

    def __init__(self, seconds: float, subject: Any) -> None:
        self._clock = work_clock(subject)
        self._end, self._look = self._clock() + seconds, time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether they were used. A box's are looked at, which takes a while, no earlier than they can be."""
        now = time.monotonic()
        if now <= self._look:
            return False
        left = self._end - self._clock()
        self._look = now + left
        return left <= 0


def work_clock(subject: Any) -> Callable[[], float]:
    """What counts the work: of code in this process the thread's processor time."""
    inner = getattr(subject, "subject", subject)  # on another device
    if not isinstance(inner, SandboxClient):
        return time.thread_time
    return (lambda: time.thread_time() + inner.usage().cpu_s) if inner.is_timed else time.monotonic
