"""The process that forks one for each check: what is told and said, what ends when, and what it notices."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psutil
import pytest

from autograder.checking import fork
from autograder.checking.fork import ForkedProcess, ForkServer, check_processes
from autograder.checking.processes import WarmProcesses, explain_failure, request
from autograder.exercises import registry
from autograder.exercises.answers import answers

pytestmark = pytest.mark.skipif(not fork.SUPPORTED, reason="processes are forked on Linux only")
CAUSAL = registry.find("masks.causal")
ENDLESS = "def causal_mask(length):\n    while True:\n        pass\n"


@pytest.fixture(scope="module")
def server():
    made = ForkServer("--trust", own_group=True)
    yield made
    made.close()


def told(path):
    return request([CAUSAL.id, str(path), "--json", "--trust"])


def until(condition, what):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen")


def test_each_check_is_a_process_of_its_own_and_all_are_of_one_that_has_loaded(server, tmp_path):
    found, pids = [], []
    for kind in ("right", "wrong"):
        (tmp_path / "mine.py").write_text(answers(CAUSAL, kind)[0].read_text(encoding="utf-8"))
        with server.process() as process:
            out, err = process.communicate(told(tmp_path / "mine.py"), timeout=120)
        found.append((json.loads(out)["status"], process.returncode, err))
        pids.append((process.pid, server._server.pid))
    assert found == [("passed", 0, ""), ("failed", 1, "")]
    assert len({pid for pid, _ in pids}) == 2 and len({pid for _, pid in pids}) == 1
    with server.process() as process:
        out, err = process.communicate(request(["no.such", "mine.py"]), timeout=120)
    assert out == "" and "no exercise is called 'no.such'" in err and process.returncode == 2


def test_it_serves_before_it_has_loaded_every_unit_and_loads_them_in_pauses():
    code = (
        "import sys; from autograder.checking import child; "
        "loaded = lambda: any(name.startswith('autograder_unit_') or name == 'sympy' for name in sys.modules); "
        "child.load_essentials(True, iter(())); before = loaded(); "
        "print(before, next(child.load_remaining()), loaded(), 'sympy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "None", "True", "False"]


def test_the_boxes_process_starts_before_torch_is_loaded_here():
    """Each of the two needs as long for it as the other, and the first check waits for both."""
    code = (
        "import socket, sys; from autograder import sandbox; from autograder.checking import fork_child; "
        "launch = sandbox.launch; "
        "sandbox.launch = lambda *how: (print('torch' in sys.modules, len(sandbox._launched)), launch(*how)); "
        "ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET); ours.close(); "
        "sys.argv = ['', str(theirs.fileno())]; fork_child.main(); "
        "print('torch' in sys.modules, len(sandbox._launched), len(sandbox._chosen))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # before the import, and at the end: the process that was launched is the one that is used
    assert done.stdout.splitlines() == ["False 0", "True 0 1"]


def test_one_that_is_cut_short_takes_its_box_with_it_and_leaves_the_others_theirs(server, tmp_path):
    (tmp_path / "endless.py").write_text(ENDLESS)
    server.prepare()
    before = set(psutil.Process(server._server.pid).children(recursive=True))
    with server.process() as running:
        with pytest.raises(subprocess.TimeoutExpired):
            running.communicate(told(tmp_path / "endless.py"), timeout=0.1)
        until(lambda: busy(server, before, running), "the student's code")
    until(lambda: not busy(server, before, running), "the end of the box")
    assert running.returncode == -signal.SIGKILL
    with server.process() as after:
        out, _ = after.communicate(told(answers(CAUSAL, "right")[0]), timeout=120)
    assert json.loads(out)["status"] == "passed"


def busy(server, before, check):
    """Whether a box that was made since then has used half a second of the processor."""
    found = psutil.Process(server._server.pid).children(recursive=True)
    boxes = [one for one in found if one not in before and one.pid != check.pid]
    times = [one.cpu_times() for one in boxes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    return any(spent.user + spent.system > 0.5 for spent in times)


@contextmanager
def sleeping(started=True):
    """A process that sleeps instead of checking, and its ForkedProcess; not started: its server is still loading."""
    requester, server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = ForkedProcess(requester, own_group=False)
    _, fds, _, _ = socket.recv_fds(server, fork.CHUNK, 4)
    sleeper = None
    if started:
        sleeper = subprocess.Popen(["sleep", "60"], stdin=fds[0], stdout=fds[1], stderr=fds[2], pass_fds=fds[3:])
        os.write(fds[3], b"%d\n" % sleeper.pid)
        for fd in fds:
            os.close(fd)
    with requester, server:
        yield process
    if sleeper is not None:
        sleeper.kill()
        sleeper.wait()


@pytest.mark.parametrize("started", [True, False])
def test_the_thread_of_a_check_that_is_killed_returns_at_once(started):
    """Closed descriptors disappear from a selector without an event; the thread would wait for its whole time limit."""
    with sleeping(started) as process, ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(process.communicate, "[]\n", 10)
        time.sleep(0.2)
        assert not waiting.done() and (process.pid is not None) == started
        process.kill()
        process.close()
        assert waiting.result(3) == ("", "")
        assert process.returncode == (-signal.SIGKILL if started else None)
        process.close()  # the numbers of its descriptors may be another's by now
        assert process.communicate("[]\n", 3) == ("", "")


def test_a_check_can_be_polled_while_a_thread_waits_for_it():
    with sleeping() as process, ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(process.communicate, None, 1)
        until(lambda: process.pid, "the start")
        start = time.monotonic()
        assert process.poll() is None and time.monotonic() - start < 0.5
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.result(5)
        process.kill()
        process.close()


def test_one_that_nobody_told_anything_ends(server):
    with server.process() as process:
        until(lambda: process.pid, "the start")
        pid = process.pid
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE, "its end")


def test_a_change_of_a_units_file_makes_it_load_again(server):
    def checked():
        with server.process() as process:
            out, _ = process.communicate(told(answers(CAUSAL, "right")[0]), timeout=120)
        assert json.loads(out)["status"] == "passed"
        return {one.pid for one in psutil.Process(server._server.pid).children()}

    before, file = checked(), CAUSAL.folder / "checks.py"
    assert checked() & before
    stat = file.stat()
    try:
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
        assert not checked() & before
    finally:
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_one_that_died_is_replaced(server):
    dead = server._server
    dead.kill()
    dead.wait()
    with server.process() as process:
        out, _ = process.communicate(told(answers(CAUSAL, "right")[0]), timeout=120)
    assert json.loads(out)["status"] == "passed" and server._server.pid != dead.pid


def test_who_lacks_torch_is_told_so(monkeypatch):
    without = "import sys; sys.modules['torch'] = None; from autograder.checking import fork_child; fork_child.main()"
    monkeypatch.setattr(fork, "COMMAND", (sys.executable, "-c", without))
    made = ForkServer()
    with made.process() as process:
        out, err = process.communicate(told("mine.py"), timeout=60)
    made.close()
    assert out == "" and "torch" in explain_failure(err) and process.returncode == 1


def test_the_server_ends_with_whoever_started_it():
    code = (
        "from autograder.checking.fork import ForkServer; import os; "
        "s = ForkServer(); s.prepare(); print(s._server.pid)"
    )
    done = subprocess.run([sys.executable, "-c", f"{code}; os._exit(0)"], capture_output=True, text=True, check=True)
    pid = int(done.stdout)
    until(lambda: not psutil.pid_exists(pid), "its end")
    assert not psutil.pid_exists(pid)


def test_nobody_waits_for_ever(monkeypatch):
    monkeypatch.setattr(fork, "WAIT_S", 0.1)
    made = ForkServer()
    made.prepare()
    made._timer.join(30)
    assert made._server is None and made._socket is None


def test_elsewhere_each_process_serves_one_check(monkeypatch):
    monkeypatch.setattr(fork, "SUPPORTED", False)
    assert isinstance(check_processes(), WarmProcesses)
