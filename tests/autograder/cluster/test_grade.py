"""The command with real processes: workers and graders that are killed, schedulers that are lost, regrades, Ctrl-C."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager

import nbformat
import psutil
import pytest
from rich.console import Console

from autograder.cluster import command
from autograder.cluster.course import BadCourse

from ..nbgrader.conftest import POINTS
from .conftest import ENV, IDS, UNIT, find

FULL = {exercise: (POINTS, False) for exercise in IDS}
LONG = 400  # seconds to wait for what takes one on an idle machine


def until(true, what, seconds=LONG):
    """Wait for it; fail with what was waited for."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.05)


def workers(process):
    """The worker processes of a grader, Dask's helpers left out."""
    children = psutil.Process(process.pid).children(recursive=True)
    return [child for child in children if any("spawn_main" in word for word in _words(child))]


def _words(process):
    try:
        return process.cmdline()
    except psutil.Error:  # gone meanwhile
        return []


def here(course):
    """What the command says, in this process: there is nothing for workers to do."""
    console = Console(record=True, width=200)
    assert command.grade(command.Options(course.root, UNIT), console) == 0
    return console.export_text()


A_CLASS = pytest.param(200, 0.1, marks=[pytest.mark.nightly, pytest.mark.slow, pytest.mark.timeout(2400)])


@pytest.mark.parametrize("number, seconds", [(12, 0.4), A_CLASS])
def test_killed_workers_and_graders_lose_and_repeat_nothing(course, tmp_path, number, seconds):
    """Kill a worker, then the grader; resume; each student has one record and their grade."""
    students = [f"s{n:03}" for n in range(number)]
    course.answers(students, seconds)
    log = tmp_path / "killed.log"
    grader = course.start(log, "--workers", "2")
    until(lambda: len(course.records()) >= 2 or grader.poll() is not None, "two records")
    victim = workers(grader)[0]
    victim.kill()
    before = len(course.records())
    until(lambda: len(course.records()) >= before + 2 or grader.poll() is not None, "records after a worker's death")
    assert grader.poll() is None, log.read_text()
    left = psutil.Process(grader.pid).children(recursive=True)
    grader.send_signal(signal.SIGKILL)
    grader.wait()
    assert psutil.wait_procs(left, timeout=60)[1] == []  # nothing goes on grading for nobody
    kept = course.records()
    assert 4 <= len(kept) < number
    with pytest.raises(BadCourse, match=f"stopped with {len(kept)} of {number} graded: --resume"):
        here(course)
    said = course.grade("--workers", "1" if number < 50 else "2", "--resume")
    assert f"{number - len(kept)} graded" in said
    assert Counter(course.records()) == Counter(students)
    assert all(course.grades(student) == FULL for student in students)
    assert set((course.root / "threads.txt").read_text().split()) == {"1"}  # no event loop beside what grades
    assert f"all {number} submissions are graded already" in here(course)


def _wrong(course, student):
    path = course.root / "submitted" / student / UNIT / f"{UNIT}.ipynb"
    nb = nbformat.read(path, as_version=4)
    find(nb, "solution-masks-padding").source = "return 1 / d"
    nbformat.write(nb, path)


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_a_regrade_asks_first(course, tmp_path):
    course.answers(["ada", "ben", "chen"], 1.0)
    log = tmp_path / "stopped.log"
    grader = course.start(log, "--workers", "1")
    until(lambda: course.records() or grader.poll() is not None, "a record")
    os.kill(grader.pid, signal.SIGINT)
    assert grader.wait(LONG) == 130, log.read_text()
    assert "continue with --resume" in log.read_text() and "Traceback" not in log.read_text()
    course.grade("--workers", "1", "--resume")
    assert Counter(course.records()) == Counter(["ada", "ben", "chen"])

    _wrong(course, "ben")
    said = course.grade("--workers", "1", "--regrade", code=2)
    assert "ben" in said and "masks.padding" in said and "chen" not in said.partition("What would change")[2]
    assert course.grades("ben") == FULL  # not before someone agrees
    said = course.grade("--resume", "--yes")
    assert "ben" in said
    assert course.grades("ben") == FULL | {"masks.padding": (0.0, False)}
    assert "nothing changes" in course.grade("--workers", "1", "--regrade", "--yes")


@pytest.mark.slow
def test_a_submission_that_kills_every_worker_waits_for_a_person(course):
    course.answers(["ada", "ben", "chen"], 0.0)
    path = course.root / "submitted" / "ben" / UNIT / f"{UNIT}.ipynb"
    nb = nbformat.read(path, as_version=4)
    find(nb, "solution-masks-padding").source = "# kill"
    nbformat.write(nb, path)
    said = course.grade("--workers", "1")
    assert "ben: every worker that tried it died (2 of them)" in said and "1 need manual grading" in said
    assert course.grades("ada") == course.grades("chen") == FULL  # who waited at the same worker is not blamed
    assert all(manual for _, manual in course.grades("ben").values())
    assert "all 3 submissions are graded already" in here(course)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def cluster(address, number, folder):
    """A scheduler and its workers, started by hand in a folder; killed at the end of the block."""
    host, port = address.removeprefix("tcp://").split(":")
    env = os.environ | ENV
    call = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", host, "--port", port, "--no-dashboard"]
    started = [subprocess.Popen(call, cwd=folder, env=env, stderr=subprocess.DEVNULL)]
    call = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    started += [subprocess.Popen(call, cwd=folder, env=env, stderr=subprocess.DEVNULL) for _ in range(number)]
    try:
        yield started
    finally:
        for process in started:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_hand_started_cluster_survives_a_killed_worker_and_a_scheduler_that_restarts(course, tmp_path):
    students = [f"s{n:03}" for n in range(24)]
    course.answers(students, 0.4)
    address = f"tcp://127.0.0.1:{_free_port()}"
    log = tmp_path / "remote.log"
    with cluster(address, 2, course.root) as processes:
        grader = course.start(log, "--scheduler", address)
        until(lambda: len(course.records()) >= 4 or grader.poll() is not None, "four records")
        victim = processes[1]
        for child in [*psutil.Process(victim.pid).children(recursive=True), victim]:
            child.kill()
        there = len(course.records())
        until(lambda: len(course.records()) >= there + 4 or grader.poll() is not None, "records of the other worker")
    with cluster(address, 2, course.root):
        assert grader.wait(LONG) == 0, log.read_text()
    assert "sent again" in log.read_text()
    assert Counter(course.records()) == Counter(students)
    assert all(course.grades(student) == FULL for student in students)


@pytest.mark.slow
def test_a_scheduler_without_a_card_or_an_answer_is_said_in_a_line(course):
    course.answers(["ada"], 0.0)
    address = f"tcp://127.0.0.1:{_free_port()}"
    assert "no Dask scheduler answers" in course.grade("--scheduler", address, code=2)
    with cluster(address, 1, course.root):
        said = course.grade("--scheduler", address, "--device", "cuda", "--resume", code=2)
        assert "no worker offers a GPU" in said
