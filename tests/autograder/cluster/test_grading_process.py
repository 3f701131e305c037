"""The process beside a worker that grades: it ends with the worker, and its own end costs one bundle."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import psutil
import pytest

from autograder.cluster.bundle import Bundle
from autograder.cluster.course import Course
from autograder.cluster.grading_process import (
    REASONS,
    GradingFailed,
    GradingProcess,
    GradingProcessDied,
    WrongVersion,
)
from autograder.cluster.job import GradingRecord
from autograder.sandbox import SandboxError

from .conftest import ENV, IDS, UNIT, find
from .test_grade import until

PARENT = """
import sys
from autograder.cluster import grading_process
print(grading_process.warm_up(), flush=True)
grading_process.grade(open(sys.argv[1], "rb").read())
"""


@pytest.fixture
def process():
    made = GradingProcess()
    yield made
    made.close()


def bundle(course, student, answer):
    """The student's bundle."""
    nb = course.released()
    find(nb, f"solution-{IDS[0].replace('.', '-')}").source = answer
    course.hand_in(student, nb)
    opened = Course(course.root, UNIT)
    return opened.bundle(next(one for one in opened.submissions() if one.key.student == student))


def test_one_process_without_other_threads_grades_all(course, process):
    records = [GradingRecord.from_bytes(process.grade(bundle(course, name, "# right"))) for name in ("ada", "ben")]
    assert [record.verdicts[0]["status"] for record in records] == ["passed", "passed"]
    assert len({record.worker for record in records} | {process.warm_up()}) == 1
    assert str(os.getpid()) != records[0].worker.partition(":")[2]
    assert set((course.root / "threads.txt").read_text().split()) == {"1"}


def test_a_bundle_that_ends_the_process_or_fills_the_memory_costs_no_other(course, process):
    with pytest.raises(GradingProcessDied, match="ended with -9"):
        process.grade(bundle(course, "ada", "# kill"))
    with pytest.raises(GradingProcessDied, match="ended with -9"):
        process.grade(bundle(course, "eve", "# fill"), most_bytes=1 << 30)
    assert GradingRecord.from_bytes(process.grade(bundle(course, "ben", "# right"))).key.student == "ben"


def test_errors_of_the_job_keep_their_kind_where_the_run_must_stop(course, process):
    sent = bundle(course, "ada", "# right")
    other = Bundle.from_bytes(sent)
    other = replace(other, key=other.key._replace(checks="other"))
    with pytest.raises(WrongVersion, match="install the version"):
        process.grade(other.to_bytes())
    with pytest.raises(GradingFailed, match="ValueError: not a bundle"):
        process.grade(b"nothing")
    assert REASONS["SandboxError"] is SandboxError


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it finishes the submission first")
def test_it_ends_with_a_worker_that_is_killed(course, tmp_path):
    data = bundle(course, "ada", "# right\n# sleep 600")
    file = tmp_path / "bundle"
    file.write_bytes(data)
    words = [sys.executable, "-c", PARENT, str(file)]
    worker = subprocess.Popen(words, cwd=course.root, env=os.environ | ENV, stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    grader = psutil.Process(int(worker.stdout.readline().rpartition(":")[2]))
    until(lambda: (course.root / "threads.txt").exists(), "the bundle to be graded")
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    assert psutil.wait_procs([grader], timeout=20)[1] == []
