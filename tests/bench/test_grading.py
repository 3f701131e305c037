"""The grading benchmark's own arithmetic; what it measures is run by `make bench`."""

from types import SimpleNamespace

import pytest

from autograder.grade import run, verdict
from autograder.sandbox.client import SandboxClient
from bench import grading as bench
from bench.grading import GRADING, PLAIN, UNIT, BenchTiming, GradingCost, Stage, ceiling, measure_rows, page
from bench.kept import KeptRows, environment
from course import exercises


def test_every_exercise_of_the_unit_has_plain_asserts():
    assert set(PLAIN) == {exercise.id for exercise in exercises() if exercise.unit == UNIT}


def test_ratios_are_to_stock_nbgrader():
    stock = BenchTiming("stock", 10, 60.0, 30.0)
    warm = [
        BenchTiming(f"`autograder grade --workers {n}`", 60, 60.0 / n, memory=(100.0,) * 60, compared=120)
        for n in (1, 2)
    ]
    parts = {"starting boxes": Stage(0.1, 0.125), "answers of the box": Stage(0.3, 0.375)}
    text = page([stock, *warm], parts, 0.05, 0.9)
    assert "| stock | 10 | 10.0 | 1.0 |" in text
    assert "| `autograder grade --workers 2` | 60 | 120.0 | 12.0 |" in text
    assert "1.00 of twice the rate with one" in text and "share nothing reach 0.90" in text and "reaches 1.11" in text
    assert "3.0 s for a submission" in text and "0.5 s: 6.0 times less" in text
    assert "240 grades compared with the truth, all agree" in text
    assert "| answers of the box | 375 | 75 % | 300 |" in text and "| sum | 500 | | 400 |" in text


class Stopped(Exception):
    """Cut short."""


class Counted:
    """Measures nothing, and stops at the fourth row the first time."""

    stock, course = "stock", "course"

    def __init__(self):
        self.ran = []

    def nbgrader(self, name, course, share):
        self.ran.append(course)
        return BenchTiming(name, 10, 5.0, 1.0)

    def otter(self, name, share):
        return self.nbgrader(name, "otter", share)

    def grade(self, workers):
        self.ran.append(workers)
        if self.ran == ["stock", "otter", "course", 1]:
            raise Stopped
        return BenchTiming(f"`autograder grade --workers {workers}`", 60, 5.0, memory=(90.5, 91.0))


def test_a_run_that_was_cut_short_goes_on(tmp_path):
    bench, here = Counted(), environment(GRADING, share=6) | {"code": "0123456789ab"}
    again = lambda: measure_rows(bench, 6, KeptRows(tmp_path / "build" / "kept.jsonl", here, resume=True))
    with pytest.raises(Stopped):
        again()
    first = again()
    assert bench.ran == ["stock", "otter", "course", 1, 1, 2]
    assert again() == first and len(bench.ran) == 6 and len(first) == 5
    assert first[3].memory == (90.5, 91.0)


def test_what_is_counted_adds_up():
    spent = GradingCost()
    for _ in range(2):
        with spent.of("x"):
            pass
    assert list(spent) == ["x"] and spent["x"].wall > 0


def test_a_block_inside_another_counts_there_alone(monkeypatch):
    clock = SimpleNamespace(now=0.0)

    def work(seconds):
        clock.now += seconds

    times = SimpleNamespace(perf_counter=lambda: clock.now, process_time=lambda: clock.now / 2)
    monkeypatch.setattr(bench, "time", times)
    spent = GradingCost()
    with spent.of("outer"):
        work(1)
        spent.time_calls("inner", work)(2)
        work(4)
    assert (spent["inner"].wall, spent["inner"].cpu) == (2, 1)
    assert (spent["outer"].wall, spent["outer"].cpu) == (5, 2.5)


def test_the_stopwatches_leave_the_program_as_it_was():
    before = (run.questions, verdict.diagnose, SandboxClient._ask, SandboxClient.__enter__)
    with bench.stopwatches():
        assert run.questions is not before[0]
    assert (run.questions, verdict.diagnose, SandboxClient._ask, SandboxClient.__enter__) == before


def test_the_ceiling_is_what_two_get_done_of_twice_what_one_does(monkeypatch):
    assert bench._turns(2, 0.2) > bench._turns(1, 0) == 0
    monkeypatch.setattr(bench, "_turns", lambda processes, seconds: {1: 100, 2: 150}[processes])
    assert ceiling() == 0.75
