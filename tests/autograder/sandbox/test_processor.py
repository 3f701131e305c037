"""Processor time, where no control group counts it."""

import subprocess
import sys
import time

from autograder.sandbox import processor

WORK = "import time\nwhile time.process_time() < {}: pass"


def test_children_count_while_they_run_and_when_they_ended():
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', sys.argv[1]])\nprint(flush=True)\ninput()"
    call = [sys.executable, "-c", code, WORK.format(1)]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        end = time.monotonic() + 60
        while processor.cpu_s(parent.pid) < 0.8:  # the child works, its parent waits
            assert time.monotonic() < end
        assert parent.stdout is not None and parent.stdout.readline()
        assert 1 <= processor.cpu_s(parent.pid) < 3
        parent.kill()
    assert processor.cpu_s(parent.pid) == 0
