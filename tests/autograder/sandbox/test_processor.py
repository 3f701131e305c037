"""Processor time, where no control group counts it."""

import subprocess
import sys
import time

import pytest

from autograder.sandbox import SandboxError, processor
from autograder.sandbox.bubblewrap_alone import BubblewrapOnly
from autograder.sandbox.cgroup import NoCgroup
from autograder.sandbox.client import Cell, SandboxClient
from autograder.sandbox.landlock import LandlockOnly

WORK = "import time\nwhile time.process_time() < {}: pass"


class LandlockAlone(LandlockOnly):
    """Where no control group can be made."""

    def group(self, limits):
        return NoCgroup()


def test_children_count_while_they_run_and_when_they_ended():
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', sys.argv[1]])\nprint(flush=True)\ninput()"
    call = [sys.executable, "-c", code, WORK.format(1)]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        end = time.monotonic() + 60
        while processor.cpu_s(parent.pid) < 0.8:  # the child works, its parent waits
            assert time.monotonic() < end
        assert parent.stdout is not None and parent.stdout.readline()
        assert 0.95 <= processor.cpu_s(parent.pid) < 3  # ended ones are rounded down
        parent.kill()
    assert processor.cpu_s(parent.pid) == 0


IN_A_THREAD = """
import os, threading, time

def work():
    started = time.process_time()
    while time.process_time() - started < 0.5:
        pass

def forks():
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    os.waitpid(pid, 0)
    stay.wait()

stay = threading.Event()
threading.Thread(target=forks, daemon=True).start()
"""
ENDS_ALONE = """
import os, time

def burns():
    pid = os.fork()
    if not pid:
        if os.fork():
            os._exit(0)
        started = time.process_time()
        while time.process_time() - started < 0.5:
            pass
        os._exit(0)
    os.waitpid(pid, 0)

burns()
"""
UNHEARD = """
import ctypes, os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
assert ctypes.CDLL(None, use_errno=True).signal(signal.SIGCHLD, 1) == -1 and ctypes.get_errno() == 1
child = os.fork()
if not child:
    os._exit(3)
heard = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])  # there is no such child where its end is ignored
"""


@pytest.fixture(scope="module", params=[BubblewrapOnly, LandlockAlone], ids=["bubblewrap-alone", "landlock"])
def uncounted(request):
    """A box that no control group counts."""
    backend = request.param()
    try:
        backend.probe()
        with SandboxClient(backend) as student:
            yield student
    except SandboxError as error:
        pytest.skip(f"not here: {error}")
    finally:
        backend.close()


def test_no_process_of_a_box_works_for_nobody(uncounted):
    """Neither one that a thread started nor one whose parent is gone; and none can end unheard."""
    assert not uncounted.is_metered
    for source in (IN_A_THREAD, ENDS_ALONE):
        before, end = uncounted.usage().cpu_s, time.monotonic() + 60
        assert uncounted.run_cells([Cell("a", source)])[0].error is None
        while uncounted.usage().cpu_s - before < 0.5:
            assert time.monotonic() < end
            time.sleep(0.05)
    assert uncounted.run_cells([Cell("b", UNHEARD)])[0].error is None and uncounted.value("heard") == 3
