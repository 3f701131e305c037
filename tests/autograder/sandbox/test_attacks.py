"""Hostile code: every attack gets an error or nothing, and the grader goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from autograder.api import Limits
from autograder.sandbox import SandboxError
from autograder.sandbox.bubblewrap import Bubblewrap
from autograder.sandbox.client import Cell, SandboxClient, StudentError
from autograder.sandbox.inside.agent import InjectedModules

ROOT = Path(__file__).resolve().parents[3]
LIMITS = Limits(wall_s=30, call_s=2, memory_mb=512, processes=16, output_bytes=20_000)


@pytest.fixture(scope="module")
def backend():
    backend = Bubblewrap()
    try:
        backend.probe()
    except SandboxError as error:
        pytest.skip(f"this machine has no bubblewrap sandbox: {error}")
    yield backend
    backend.close()


@pytest.fixture
def student(backend):
    with SandboxClient(backend, LIMITS) as student:
        yield student


def run(student, body, seconds=None):
    """Runs `body` as a function `attack` and gives what it returns."""
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    outcome = student.run_cells([Cell("attack", f"def attack():\n{lines}")], seconds)[0]
    assert outcome.error is None, outcome.error
    return student.call("attack")


def stopped(student, body):
    with pytest.raises(StudentError) as caught:
        run(student, body)
    return caught.value


def test_the_library_cannot_be_patched_from_inside(student):
    student.run_cells([Cell("a", "import torch\ntorch.allclose = lambda *a, **k: True\ndef f(x):\n    return x")])
    assert not torch.allclose(torch.zeros(1), torch.ones(1))
    assert student.call("f", 1) == 1


@pytest.mark.parametrize("name", ["tfkit", "autograder", "course", "tfkit_lab", "nbgrader", "transformers"])
def test_the_project_cannot_be_imported(student, name):
    guard = InjectedModules.__name__
    error = stopped(student, f"import sys\nfound = [f for f in sys.meta_path if type(f).__name__ == {guard!r}]\n"
                             f"assert found, 'the guard is not where this test takes it off'\n"
                             f"sys.meta_path[:] = [f for f in sys.meta_path if f not in found]\n"
                             f"sys.path += [{str(ROOT)!r}, {sys.prefix!r}]\nimport {name}")  # fmt: skip
    assert "No module named" in error.message


def test_the_project_cannot_be_read(student):
    places = [ROOT / "pyproject.toml", ROOT / "autograder" / "student.py", Path("/etc/passwd"), Path("/etc/hostname"),
              Path.home() / ".ssh", ROOT / ".git", Path(sys.prefix) / "pyvenv.cfg", Path("/hostproc/self")]  # fmt: skip
    body = f"import os\nreturn [p for p in {[str(p) for p in places]!r} if os.path.exists(p)]"
    assert run(student, body) == []


def test_nothing_outside_its_own_memory_can_be_written(student):
    body = """
import os
from contextlib import suppress
made = []
for place in ("/", "/usr", "/packages", "/packages/torch", "/inside", "/dev", "/etc", "/proc", "/proc/sys/kernel"):
    with suppress(OSError):
        open(place + "/x", "w").close()
        made.append(place)
open("/tmp/mine", "w").close()
return made
"""
    assert run(student, body) == []


def test_what_one_box_writes_the_next_does_not_see(backend):
    for _ in range(2):
        with SandboxClient(backend, LIMITS) as student:
            body = """
import os
seen = [p for p in ("/tmp/x", "/box/x", "/dev/shm/x") if os.path.exists(p)]
for p in ("/tmp/x", "/box/x", "/dev/shm/x"):
    open(p, "w").close()
return seen
"""
            assert run(student, body) == []


def test_the_disk_is_bounded(student):
    body = """
n = 0
try:
    for i in range(1000):
        with open(f"/tmp/{i}", "wb") as f:
            n += f.write(bytes(8 << 20))
except OSError:
    return n
"""
    try:
        assert run(student, body) <= 300 << 20
    except StudentError as error:
        assert error.kind in ("memory", "timeout")


def test_the_network_is_unreachable(student):
    body = """
import socket
from contextlib import suppress
found = []
for family, address in ((socket.AF_INET, ("1.1.1.1", 53)), (socket.AF_INET, ("127.0.0.1", 22))):
    with suppress(OSError):
        s = socket.socket(family, socket.SOCK_STREAM)
        s.settimeout(0.3)
        s.connect(address)
        found.append(address)
with suppress(OSError):
    socket.socket(40, socket.SOCK_STREAM)  # AF_VSOCK, which no namespace confines
    found.append("vsock")
return found
"""
    assert run(student, body) == []


def test_no_other_process_is_seen(student):
    assert run(student, "import os\nreturn sorted(int(p) for p in os.listdir('/proc') if p.isdigit())") == [1, 2]


def test_system_calls_that_namespaces_do_not_confine_are_refused(student):
    body = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
done = []
for name, args in (("unshare", (0x10000000,)), ("ptrace", (0, 0, 0, 0)), ("personality", (0x40000,)),
                   ("mount", (None, b"/tmp", b"tmpfs", 0, None)), ("setns", (3, 0))):
    if getattr(libc, name)(*args) != -1:
        done.append(name)
return done
"""
    assert run(student, body) == []


def test_a_fork_bomb_is_held(student):
    body = """
import os, time
n = 0
while True:
    try:
        if os.fork() == 0:
            time.sleep(100)
    except OSError:
        return n
    n += 1
"""
    assert run(student, body) <= LIMITS.processes + 3


def test_daemons_end_with_the_box(backend):
    mark = f"daemon-{os.getpid()}"
    with SandboxClient(backend, LIMITS) as student:
        run(student, f"""
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv({os.path.realpath(sys.executable)!r}, ["{mark}", "-I", "-S", "-c", "import time; time.sleep(1000)"])
    os._exit(0)
""")  # fmt: skip
        wait_until_runs(mark, True)
    wait_until_runs(mark, False)


def wait_until_runs(mark, wanted, seconds=60):
    """Until a process with this mark runs, or until none does; at once on an idle machine."""
    end = time.monotonic() + seconds
    while (mark in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout) is not wanted:
        assert time.monotonic() < end, f"waited {seconds} s for {mark} to {'begin' if wanted else 'end'}"
        time.sleep(0.05)


@pytest.mark.parametrize("body, kind", [
    ("return [bytearray(1 << 28) for _ in range(100)]", "memory"),
    ("import torch\nreturn torch.ones(1 << 30)", "memory"),
    ("import os\nos._exit(0)", "crash"),
    ("import ctypes\nctypes.string_at(0)", "crash"),
    ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "crash"),
    ("while True:\n    pass", "timeout"),
    ("import sys\nsys.exit(0)", "exception"),
    ("def f():\n    return f()\nreturn f()", "exception"),
])  # fmt: skip
def test_each_end_has_its_reason(student, body, kind):
    assert stopped(student, body).kind == kind


def test_code_that_will_not_stop_is_ended_by_its_work(backend, monkeypatch):
    monkeypatch.setattr("autograder.sandbox.client.BACKSTOP", 1000)
    body = """
while True:
    try:
        while True:
            pass
    except BaseException:
        continue
"""
    with SandboxClient(backend, Limits(call_s=1, wall_s=300)) as student:
        began = time.monotonic()
        error = stopped(student, body)
        assert error.kind == "timeout" and not student.alive
        assert time.monotonic() - began < 150  # the wall's time would be 300
        with pytest.raises(StudentError, match="the box has died"):
            student.call("attack")


def test_waiting_for_the_processor_is_not_counted(backend):
    """As on a busy machine: long on the wall, little work."""
    with SandboxClient(backend, Limits(call_s=0.5)) as student:
        assert run(student, "import time\ntime.sleep(1)\nreturn 5") == 5


def test_a_sleeper_is_ended_by_the_wall(backend):
    with SandboxClient(backend, Limits(call_s=0.5)) as student:
        began = time.monotonic()
        error = stopped(student, "import time\ntime.sleep(3600)")
        assert error.kind == "timeout" and "1.5 s" in error.message and student.alive
        assert time.monotonic() - began < 50  # the box itself could live for 60


def test_a_sleeper_that_will_not_wake_is_ended_with_its_box(backend):
    body = "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})\ntime.sleep(3600)"
    with SandboxClient(backend, Limits(call_s=0.5)) as student:
        assert stopped(student, body).kind == "timeout" and not student.alive


def test_a_cell_that_ends_the_box_says_so(student):
    outcomes = student.run_cells([Cell("a", "x = 1"), Cell("b", "import os; os._exit(7)"), Cell("c", "y = 1")])
    assert [o.lost for o in outcomes] == [False, True]
    assert "status 7" in outcomes[1].error


FORGE = """
import socket, struct, json, os, gc
s = socket.socket(fileno=os.dup(200))
{}
os._exit(0)
"""


@pytest.mark.parametrize("forged", [
    "s.send(b'garbage' * 100)",
    "s.send(struct.pack('<IQ', 1 << 30, 1 << 60))",
    "s.send(struct.pack('<IQ', 2, 0) + b'[]')",
    "h = b'[' * 100000; s.send(struct.pack('<IQ', len(h), 0) + h)",
    "h = json.dumps({'v': {'d': []}, 't': [['f32', [1 << 20], 0, 4, 'cpu', None]]}).encode(); "
    "s.send(struct.pack('<IQ', len(h), 4) + h + b'abcd')",
    "h = json.dumps({'v': {'d': [['id', 99], ['ok', 1]]}, 't': []}).encode(); "
    "s.send(struct.pack('<IQ', len(h), 0) + h)",
    "h = json.dumps({'v': {'c': 0}, 't': []}).encode(); s.send(struct.pack('<IQ', len(h), 0) + h)",
])  # fmt: skip
def test_forged_frames_are_protocol_errors(student, forged):
    assert stopped(student, FORGE.format(forged)).kind == "protocol"


def test_printing_does_not_reach_the_frames(student):
    body = "import os\nos.write(1, b'x' * 1000)\nos.write(2, b'y' * 1000)\nprint('z')\nreturn 5"
    assert run(student, body) == 5


def test_outputs_are_capped(student):
    outcome = student.run_cells([Cell("a", "for i in range(10**5):\n    print('spam' * 10)")])[0]
    assert sum(len(str(item)) for item in outcome.outputs) < 2 * LIMITS.output_bytes
    assert "cut off" in outcome.outputs[-1]["text"]


def test_the_wall_ends_the_box(backend):
    with SandboxClient(backend, Limits(wall_s=1.5, call_s=10)) as student, pytest.raises(StudentError) as caught:
        student.run_cells([Cell("a", "import time\ndef f():\n    time.sleep(9)")])
        student.call("f")
    assert caught.value.kind == "timeout"


def test_the_warm_process_is_replaced_when_it_dies(backend):
    backend._process.kill()
    backend._process.wait()
    with SandboxClient(backend, LIMITS) as student:
        assert student.ping() == torch.__version__
