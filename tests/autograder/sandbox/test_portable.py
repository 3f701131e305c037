"""Checks where there is no Linux: the portable process itself, and the autograder with what only POSIX has removed.

No Mac and no Windows was at hand: sandbox-exec's profile and the job object's calls are read here, not obeyed.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder import sandbox
from autograder.api import Limits
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.grade import run
from autograder.sandbox import SandboxError, job, portable
from autograder.sandbox.client import Cell, SandboxClient

CAUSAL = "masks.causal"
WITHOUT_POSIX = """
import asyncio, getpass, multiprocessing.util, os, pathlib, platform, select, shutil, signal, socket, subprocess, sys
import tempfile, threading, uuid
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for module, names in (
    (os, ("fork", "forkpty", "killpg", "setsid", "getuid", "geteuid", "getgid", "getegid", "getpgid", "mkfifo", "chown",
          "sysconf", "sched_getaffinity", "getloadavg", "pidfd_open", "memfd_create")),
    (signal, ("SIGALRM", "SIGPROF", "setitimer", "getitimer", "ITIMER_REAL", "ITIMER_PROF", "pthread_sigmask")),
    (select, ("poll", "epoll")),
    (socket, ("AF_UNIX", "SOCK_SEQPACKET", "SCM_RIGHTS", "SO_PASSCRED", "SCM_CREDENTIALS", "CMSG_SPACE")),
):
    for name in names:
        module.__dict__.pop(name, None)
"""


@pytest.fixture(scope="module")
def backend():
    return portable.Portable()


def graded(backend, name, **limits):
    source = answers(registry.find(CAUSAL), name)[0].read_text(encoding="utf-8")
    return run.grade_source(registry.find(CAUSAL), source, backend=backend)


def test_right_and_wrong_are_judged_as_in_a_box(backend):
    assert graded(backend, "right").status == "passed"
    verdict = graded(backend, "wrong")
    assert verdict.status == "failed" and verdict.misconception == answers(registry.find(CAUSAL), "wrong")[0].stem
    assert verdict.sandbox == "subprocess"


def test_a_loop_a_crash_and_what_is_written(backend):
    with SandboxClient(backend, Limits(wall_s=30)) as student:
        folder = student._box.cwd
        (done,) = student.run_cells([Cell("a", "open('left', 'w').write('x')")])
        assert done.error is None and (folder / "left").is_file()
        (gone,) = student.run_cells([Cell("b", "import os\nos._exit(7)")])
        assert gone.lost and "status 7" in gone.error
    assert not folder.exists()
    with SandboxClient(backend) as student:
        (stopped,) = student.run_cells([Cell("a", "while True: pass")], seconds=3)
        assert stopped.error and "stopped after" in stopped.error


def test_a_package_that_is_missing_is_named(backend, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SandboxError, match="torch is not installed here: pip install torch"):
        backend.start(Limits())


def simulated(tmp_path: Path, system: str, code: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Runs `code` where the grader and the student's process have nothing that only POSIX has."""
    removed = tmp_path / "removed.py"
    removed.write_text(WITHOUT_POSIX)
    start = f"""
exec(open({str(removed)!r}).read())
from autograder import sandbox
sandbox.SYSTEM = {system!r}
from autograder.sandbox import portable
def command(self, port, folder, program):
    inner = "import sys; sys.argv = sys.argv[1:]; exec(open({str(removed)!r}).read());" \
            "import runpy; runpy.run_path(sys.argv[0], run_name='__main__')"
    return [program[0], "-I", "-S", "-B", "-c", inner, *program[4:]]
portable.Portable.command = command
"""
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", f"{before}{start}{code}"], env=env, capture_output=True, text=True, timeout=300,
        cwd=tmp_path, errors="replace",
    )  # fmt: skip


def test_a_check_without_posix(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(answers(registry.find(CAUSAL), "wrong")[0].read_text(encoding="utf-8"))
    code = f"""
from autograder.cli import main
import autograder.checking.child, tfkit.decode, course.build
from autograder.sandbox.client import Cell, SandboxClient
with SandboxClient(portable.Portable()) as student:
    print(student.run_cells([Cell("a", "while True: pass")], seconds=4)[0].error)
main(["check", {CAUSAL!r}, {str(file)!r}, "--trust", "--json"])
"""
    done = simulated(tmp_path, "win32", code)
    assert done.returncode == 1, done.stderr[-2000:]
    assert done.stdout, done.stderr[-2000:]
    loop, line = done.stdout.splitlines()
    wrong = json.loads(line)
    assert (wrong["status"], wrong["sandbox"]) == ("failed", "subprocess")
    assert wrong["misconception"] == answers(registry.find(CAUSAL), "wrong")[0].stem
    assert "KeyboardInterrupt: stopped after" in loop


def test_doctor_says_what_needs_linux_and_a_check_without_trust_says_why(tmp_path):
    code = """
from autograder import doctor
doctor.SYSTEM = "darwin"
from autograder.cli import main
print("\\n".join(doctor.report()[0]))
main(["check", "masks.causal", "removed.py"])
"""
    done = simulated(tmp_path, "darwin", code)
    assert done.returncode == 2, done.stderr[-2000:]
    assert "grading      needs Linux" in done.stdout
    assert "sandbox      sandbox-exec: not available (not on this machine)" in done.stdout
    assert "sandbox      subprocess: NOT ISOLATED, only with --trust" in done.stdout
    assert "students' code is isolated on Linux only, and this is darwin" in done.stderr


CODE_PAGE = """
import builtins, io, sys
sys.stdout.reconfigure(encoding="cp1252", errors="strict")
def open_there(file, mode="r", buffering=-1, encoding=None, *more, real=io.open, **options):
    unnamed = "b" not in mode and encoding in (None, "locale")
    return real(file, mode, buffering, "cp1252" if unnamed else encoding, *more, **options)
io.open = builtins.open = open_there
"""


def test_commands_for_a_pc_where_files_and_pipes_have_a_code_page(tmp_path):
    """Windows' code page cannot encode every sign that is printed or written; `autograder lint` needs Linux."""
    (tmp_path / "mine.py").write_text(answers(registry.find(CAUSAL), "wrong")[0].read_text(encoding="utf-8"))
    half = "def half(x):\n    ### BEGIN SOLUTION\n    return x / 2\n    ### END SOLUTION"
    cells = [nbformat.v4.new_code_cell(text) for text in (half, "assert half(3) == 1.5, '½ → …'")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "hw1.ipynb")
    code = f"""
from autograder.cli import main
from course import build, guide, new
def status(command, arguments):
    try:
        return command(arguments)
    except SystemExit as end:
        return end.code
print([status(main, ["check", {CAUSAL!r}, "mine.py", "--trust"]), status(main, ["adopt", "hw1.ipynb", "my-course"]),
       status(main, ["lint", "my-course"]), status(new.main, ["my_unit"]),
       *(status(command, ["my-course", "--unit", "02-masks"]) for command in (build.main, guide.main))])
"""
    before = "import jupyter_server.services.contents.filemanager, nbgrader.utils, platformdirs"  # ask sys.platform
    done = simulated(tmp_path, "win32", CODE_PAGE + code, before)
    assert done.stdout.splitlines()[-1:] == ["[1, 0, 2, 0, 0, 0]"], done.stdout + done.stderr
    assert "\n  x " in done.stdout and "\n  + " in done.stdout and "not linted" in done.stdout
    assert "`autograder lint` needs Linux, or WSL 2 on Windows: Python has no fcntl" in done.stderr
    assert "½ → …" in (tmp_path / "my-course/source/hw1/hw1.ipynb").read_text(encoding="utf-8")


def test_the_profile_names_the_one_port_and_the_one_folder(tmp_path):
    profile = portable.SandboxExec().profile(4321, tmp_path)
    assert '(allow network-outbound (remote ip "localhost:4321"))' in profile
    assert profile.index("(deny file-write*)") < profile.index(f'(allow file-write* (subpath "{tmp_path.resolve()}"))')
    assert profile.count("(") == profile.count(")")
    assert portable._quoted('a"b\\c') == '"a\\"b\\\\c"'


class Kernel:
    """kernel32, as far as a job asks it: notes the calls, and fails at `fails`."""

    def __init__(self, fails: str = "") -> None:
        self.calls: list[str] = []
        self.fails, self.limits = fails, b""

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append(name)
            if name == "SetInformationJobObject":
                self.limits = ctypes.string_at(arguments[2], arguments[3])
            return 0 if name == self.fails else 77

        self.__dict__[name] = call
        return call


def test_a_job_bounds_memory_and_processes_and_ends_with_its_handle():
    assert ctypes.sizeof(job.ExtendedLimits) == 144  # as 64-bit Windows has it
    kernel = Kernel()
    made = job.Job(123, Limits(memory_mb=512, processes=9), kernel)
    assert kernel.calls == ["CreateJobObjectW", "SetInformationJobObject", "OpenProcess", "AssignProcessToJobObject",
                            "CloseHandle"]  # fmt: skip
    given = job.ExtendedLimits.from_buffer_copy(kernel.limits)
    assert given.basic.flags == 0x2208 and given.basic.processes == 9
    assert given.job_memory == (job.BASE_MB + 512) << 20
    made.close()
    assert kernel.calls[-1] == "CloseHandle"
    with pytest.raises(OSError, match="job object: AssignProcessToJobObject failed"):
        job.Job(123, Limits(), Kernel("AssignProcessToJobObject"))


def test_linux_has_its_boxes_still():
    assert [kind.name for kind in sandbox.backends()][0] == "bubblewrap"
    assert portable.Portable not in sandbox.backends()
