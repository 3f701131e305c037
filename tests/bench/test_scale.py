"""The simulated term: known queues come out as theory has them, and the page is made of what is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from bench.scale import __main__ as command
from bench.scale import real, simulate
from bench.scale.measure import ServiceTimes
from bench.scale.simulate import HOUR, WEEK, SimulatedTerm

DOCS = Path(__file__).parents[2] / "docs"
TIMES = ServiceTimes("m", "d", "u", [0.5], [1.0], [0.5], [0.01], [0.0])


def test_submissions_come_as_the_term_says():
    term = SimulatedTerm(students=2000, assignments=2)
    found = term.submissions()
    assert len(found) == pytest.approx(2 * 2000 * 1.8, rel=0.05) and (np.diff(found) >= 0).all()
    day = ((found > WEEK - 24 * HOUR) & (found <= WEEK)).sum() / (found <= WEEK).sum()
    assert day == pytest.approx(term.rush + (1 - term.rush) / 7, abs=0.03)
    assert found.max() <= 2 * WEEK and len(term.check_requests()) == pytest.approx(2000 * 1.8 * 12, rel=0.05)


def test_one_submission_waits_for_the_look_its_grading_and_its_page():
    done = simulate.ServiceModel(TIMES, 4, [10.0], every=0.0, seed=0).run()
    assert done.waits == pytest.approx([1.51]) and done.longest_queue == 1


def test_work_is_conserved_and_more_workers_shorten_the_line():
    arrivals = [0.0] * 64
    few, many = (simulate.ServiceModel(TIMES, workers, arrivals, 0.0, 0).run() for workers in (1, 8))
    assert len(few.waits) == len(many.waits) == 64
    assert few.waits.max() == pytest.approx(64 * 1.5, rel=0.05)  # one core does all of it
    assert many.waits.max() == pytest.approx(8 * 1.5, rel=0.1)
    assert few.longest_queue == many.longest_queue == 64


def test_checks_on_one_core_wait_as_in_a_queue_of_one_server():
    """M/D/1: with half of the core in use, the mean wait is a quarter of two service times (Pollaczek-Khinchine)."""
    term = SimulatedTerm(students=3000, assignments=1, rush=0.0, resubmissions=0.0, checks=100.0)
    per_second = len(term.check_requests()) / WEEK
    times = ServiceTimes("m", "d", "u", [0.5 / per_second], [1.0], [0.5], [0.01], [0.0])
    found = simulate.check(term, times, 1)
    service = 0.5 / per_second
    assert found.waits.mean() == pytest.approx(service * (1 + 0.5), rel=0.25)


GRADER = """
import signal, sys, time
def stop(*_):
    print("✓ s3 the one in work", flush=True)
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
for n in range(3):
    print(f"✓ s{n}", flush=True)
time.sleep(60)
"""


def test_ctrl_c_ends_a_real_run_and_keeps_what_was_graded(monkeypatch, capsys):
    """Also a second Ctrl-C, which would make the grader leave at once."""
    looks = []

    def look(grader: object) -> tuple[float, float]:
        looks.append(grader)
        if len(looks) == 3:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
        return 100.0, 200.0

    monkeypatch.setattr(real, "_memory", look)
    call = [sys.executable, "-c", GRADER]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True, process_group=0)
    with real._passed_on(process, Console()):
        samples = real._watch(process, float("inf"), 1, Console())
    assert process.wait() == real.STOPPED and [one.graded for one in samples] == [1, 2, 3, 4]
    assert capsys.readouterr().out.count("stopping after") == 1


@pytest.mark.nightly
@pytest.mark.slow
def test_what_the_page_needs_is_measured_and_a_class_is_graded(tmp_path):
    small = ["--students", "20", "--assignments", "1", "--workers", "1", "--cores", "1"]
    command.main(["--docs", str(tmp_path), "--measure", "3", "--real", "3", "--real-workers", "1", *small])
    kept = json.loads((tmp_path / "scale.json").read_text())
    times, run = kept["times"], kept["real"]
    assert all(min(times[name]) > 0 for name in ("check", "grade", "feedback", "write", "look"))
    assert run["submissions"] == run["handed_in"] == run["samples"][-1]["graded"] == 3
    assert all(one["grader_mib"] > 50 and one["workers_mib"] > 50 for one in run["samples"])
    assert "graded 3 of a class of 3 in" in " ".join((tmp_path / "scale.md").read_text().split())


def test_the_page_is_made_of_what_is_kept(tmp_path, capsys):
    (tmp_path / "scale.json").write_text((DOCS / "scale.json").read_text())
    small = ["--students", "60", "--assignments", "1", "--workers", "1", "2", "--cores", "1"]
    command.main(["--docs", str(tmp_path), *small])
    page = (tmp_path / "scale.md").read_text()
    kept = json.loads((DOCS / "scale.json").read_text())["real"]
    assert f"{kept['submissions']:,} submissions in one run" in page and "{" not in page
    assert all((tmp_path / "images" / name).read_text().lstrip().startswith("<?xml") for name in
               ("scale-queue.svg", "scale-memory.svg"))  # fmt: skip
    (tmp_path / "scale.json").unlink()
    with pytest.raises(SystemExit):
        command.main(["--docs", str(tmp_path), *small])
    assert "has no real, times: --measure N, --real N" in capsys.readouterr().err
