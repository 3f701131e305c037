"""What may be used of the processor is not used up by waiting."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from autograder.sandbox import work_time
from autograder.sandbox.work_time import WorkTime


@pytest.fixture
def clocks(monkeypatch):
    """The wall's clock and the thread's, set by hand."""
    now = SimpleNamespace(wall=100.0, thread=5.0)
    monkeypatch.setattr(time, "monotonic", lambda: now.wall)
    monkeypatch.setattr(time, "thread_time", lambda: now.thread)
    return now


class Box(work_time.SandboxClient):
    """Of which somebody counts the processor's time, or nobody."""

    def __init__(self, is_timed):
        self._is_timed, self.used, self.looks = is_timed, 1.0, 0

    def usage(self):
        self.looks += 1
        return SimpleNamespace(cpu_s=self.used)


def test_a_busy_machine_ends_nothing(clocks):
    time_left = WorkTime(10.0, None)
    clocks.wall += 500
    assert not time_left.is_over
    clocks.thread += 9
    clocks.wall += 500
    assert not time_left.is_over
    clocks.thread += 2
    clocks.wall += 2
    assert time_left.is_over


def test_the_boxs_work_counts_and_is_looked_at_seldom(clocks):
    box = Box(is_timed=True)
    time_left = WorkTime(10.0, SimpleNamespace(subject=box))
    for _ in range(100):
        assert not time_left.is_over
    assert box.looks == 1
    clocks.wall += 11
    box.used, clocks.thread = box.used + 6, clocks.thread + 3
    assert not time_left.is_over and not time_left.is_over and box.looks == 2
    clocks.wall += 2
    box.used += 6
    assert time_left.is_over


def test_where_nobody_counts_it_the_walls_clock_decides(clocks):
    time_left = WorkTime(10.0, Box(is_timed=False))
    clocks.wall += 9
    assert not time_left.is_over
    clocks.wall += 2
    assert time_left.is_over
