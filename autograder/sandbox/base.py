"""The interface of a sandbox backend, and the base of those that fork their boxes from a warm process."""

from __future__ import annotations

import array
import atexit
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.api import Limits
from autograder.sandbox import processor
from autograder.sandbox.cgroup import Group

INSIDE = Path(__file__).with_name("inside")
START_S = 60.0  # importing torch from a cold disk
# ends a process and all that it left behind; Windows has no process groups, but lists the backends that use them
kill_group: Callable[[int, int], None] = getattr(os, "killpg", os.kill)


class SandboxError(RuntimeError):
    """No box could be started. The message is one line: what was wrong, where, and what to do."""


@dataclass(frozen=True)
class Usage:
    """The resources that a box has used so far; 0 where nothing counts them. `peak_bytes` needs a control group."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


class Box:
    """One running box: the frame channel, its processes, its control group."""

    def __init__(self, channel: socket.socket, status: socket.socket, pid: int, group: Group, cwd: Path | None,
                 kill: Callable[[int, int], None] = os.kill) -> None:  # fmt: skip
        self.channel, self.status, self.pid, self.group, self.cwd, self.kill = channel, status, pid, group, cwd, kill
        self.started, self.last, self.stopped, self.spent_s = time.monotonic(), "", False, 0.0

    def exit_reason(self, wait_s: float = 2.0) -> tuple[str, str]:
        """(kind, message) for a box whose channel closed: `memory` or `crash`."""
        self._listen(wait_s)
        if self.group.oom_kills() > 0 or self.last == "memory":
            return "memory", "the code used more memory than it may and was stopped"
        if self.last.startswith("error "):
            return "crash", f"the box could not be made: {self.last[6:]}"
        if not self.last.startswith("exit "):
            return "crash", "the process is gone"
        code = int(self.last[5:])
        if code > 128:
            return "crash", f"the process was ended by {_signal_name(code - 128)}"
        return "crash", f"the process exited with status {code}"

    def _listen(self, wait_s: float) -> None:
        poll = select.poll()
        poll.register(self.status, select.POLLIN)
        if not self.last and poll.poll(wait_s * 1000):
            self.last = self.status.recv(4096).decode("utf-8", "replace")

    def cpu_s(self) -> float:
        """Processor seconds of all its processes, counted by a control group or else by /proc; 0 if neither can.

        After the box was stopped, the seconds that it had used by then.
        """
        return self.spent_s if self.stopped else self.group.cpu_s() or processor.cpu_s(self.pid)

    @property
    def is_timed(self) -> bool:
        """Whether `cpu_s` counts all of the box's processes: a control group, or a /proc in which they are."""
        return bool(self.group.kind) or os.path.exists(f"/proc/{self.pid}/stat")

    def usage(self) -> Usage:
        """Wall seconds since the start, processor seconds as `cpu_s` has them, and the control group's peak bytes."""
        return Usage(time.monotonic() - self.started, self.cpu_s(), self.group.peak_bytes())

    def stop(self) -> None:
        """Ends every process of the box and removes what it wrote. Safe to call twice."""
        if self.stopped:
            return
        self.spent_s, self.stopped = self.cpu_s(), True
        try:
            self.kill(self.pid, signal.SIGKILL)  # the witness: when it dies, so does the namespace's first process
        except ProcessLookupError:
            self.last = self.last or "gone"
        self.group.close()
        self.channel.close()
        self.status.close()
        if self.cwd is not None:
            _remove(self.cwd)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Backend(ABC):
    """Starts boxes. `name` goes into verdicts; `isolated` says whether it contains hostile code."""

    name = ""
    isolated = False
    rank = 100  # of two backends that work here, the one with the smaller rank is chosen
    cards = False  # whether its boxes can use the machine's GPUs
    packages: tuple[str, ...] = ()  # distributions that boxes can import besides torch and its dependencies

    @classmethod
    def runs_on(cls, system: str) -> bool:
        """Whether the backend is made for this system, as `sys.platform` names it."""
        return system.startswith("linux")

    @abstractmethod
    def start(self, limits: Limits) -> Box:
        """A new box. Raises SandboxError if no box can be started."""

    @abstractmethod
    def describe(self) -> dict[str, str]:
        """What this backend restricts and how: network, filesystem, processes, memory, time; and what is `missing`."""

    def launch(self) -> None:  # noqa: B027 (most have nothing to start)
        """Starts the processes that the backend keeps between boxes, and does not wait until they are ready.

        Raises SandboxError or OSError if they cannot be started."""

    def import_all(self) -> None:  # noqa: B027 (most share nothing between boxes)
        """Imports what boxes share with the process that they are forked from, all of it, before the next box starts.

        A box is charged for the memory of what it imports itself. Raises OSError or EOFError if that fails."""

    def close(self) -> None:  # noqa: B027 (most have nothing to close)
        """Ends the processes that the backend keeps between boxes."""

    @property
    def alive(self) -> bool:
        """Whether the processes that the backend keeps between boxes, if any, still run."""
        return True

    def adopt(self) -> None:  # noqa: B027 (most have nothing to share)
        """Called in a process that was forked: it shares what its parent keeps between boxes, and doesn't end it."""

    def probe(self) -> None:
        """Runs a tiny box as a test. Raises SandboxError with one line where the isolation does not work, whether the
        box says so or the system refuses to start it in time."""
        from autograder.sandbox.client import SandboxClient, StudentError

        try:
            with SandboxClient(self, Limits(wall_s=START_S, memory_mb=512)) as student:
                student.ping()
        except StudentError as error:
            raise SandboxError(f"{self.name}: {error}") from error
        except (OSError, EOFError) as error:
            raise self._refused(error) from error

    def _refused(self, error: OSError | EOFError) -> SandboxError:
        """The system's error as one that lets `choose` try the next backend."""
        return SandboxError(f"{self.name}: {type(error).__name__}: {error}")


class WarmBackend(Backend):
    """A backend whose boxes are forked from one process that has imported torch already."""

    isolate = ""  # how the warm process's children are isolated: "namespaces", "landlock", or ""
    scratch_mb = 256
    kill: Callable[[int, int], None] = staticmethod(os.kill)  # ends a box by its witness's process id

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._starting: socket.socket | None = None  # the control socket of a warm process that is not warm yet
        self._has_all: socket.socket | None = None  # the control socket of a warm process that has imported everything
        self._lock = threading.RLock()
        atexit.register(self.close)

    @abstractmethod
    def command(self, control: int, descriptors: list[int]) -> list[str]:
        """The command line that starts `inside/zygote.py`; may append file descriptors to `descriptors`."""

    def group(self, limits: Limits) -> Group:
        """A control group for one box; the grader's own part of it gets 256 MB and three processes beyond `limits`."""
        return Group(memory=(limits.memory_mb + 256) << 20, processes=limits.processes + 3)

    def user(self) -> int | None:
        """The user id that the warm process runs as, or None for the current user."""
        return None

    def scratch(self) -> Path | None:
        """A folder of the host that one box may write to, or None if the box has its own."""
        return None

    def launch(self) -> None:
        """See `Backend.launch`."""
        with self._lock:
            if self._control is None and self._starting is None:
                self._launch()

    def probe(self) -> None:
        """See `Backend.probe`; the warm process imports torch while this one does. Raises SandboxError."""
        try:
            self.launch()
        except OSError as error:
            raise self._refused(error) from error
        super().probe()

    def import_all(self) -> None:
        """See `Backend.import_all`; once for a warm process."""
        with self._lock:
            control = self._warm()
            if self._has_all is control:
                return
            status, status_inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with status, status_inside:
                descriptor = array.array("i", [status_inside.fileno()])
                control.sendmsg([b"import all"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptor)])
                status.settimeout(START_S)
                if status.recv(16) != b"imported":
                    raise EOFError("the warm process failed to import what boxes share")
            self._has_all = control

    def start(self, limits: Limits) -> Box:
        """A new box; restarts the warm process if it died.

        Raises SandboxError, OSError or EOFError if no box can be started.
        """
        with self._lock:
            try:
                return self._start(limits)
            except (OSError, EOFError):
                self.close()  # the warm process died: try once more with a new one
                return self._start(limits)

    def _start(self, limits: Limits) -> Box:
        group = self.group(limits)
        try:
            return self._fork(limits, group)
        except BaseException:
            group.close()
            raise

    def _fork(self, limits: Limits, group: Group) -> Box:
        control = self._warm()
        status, status_inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        channel, channel_inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        cwd = self.scratch()
        config = {"isolate": self.isolate, "cwd": str(cwd or "/box"), "scratch_mb": self.scratch_mb,
                  "memory_mb": limits.memory_mb, "processes": limits.processes, "wall_s": limits.wall_s,
                  "output_bytes": limits.output_bytes,
                  "watched_mb": limits.memory_mb + 256 if self.isolate and not group.kind else 0}  # fmt: skip
        with status_inside, channel_inside:
            status.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            fds = array.array("i", [status_inside.fileno(), channel_inside.fileno()])
            control.sendmsg([json.dumps(config).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        pid = _pid_of(status)
        group.add(pid)
        status.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        status.send(b"go")
        return Box(channel, status, pid, group, cwd, self.kill)

    @property
    def alive(self) -> bool:
        """See `Backend.alive`."""
        return self._process is None or self._process.poll() is None

    def adopt(self) -> None:
        """See `Backend.adopt`: the warm process is another's child, so that it is neither waited for nor ended here."""
        self._process = None

    def _warm(self) -> socket.socket:
        if self._control is not None and self.alive:
            return self._control
        if self._starting is None:
            self._launch()
        assert self._starting is not None
        control, self._starting = self._starting, None
        control.settimeout(START_S)
        if control.recv(64) != b"warm":
            raise SandboxError(f"{self.name}: {self._failure_reason()}")
        self._control = control
        return control

    def _launch(self) -> None:
        """Starts the warm process, and does not wait until it is warm."""
        own_end, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        descriptors = [child_end.fileno()]
        command, user = self.command(child_end.fileno(), descriptors), self.user()
        with child_end:
            self._process = subprocess.Popen(command, pass_fds=descriptors, stdin=subprocess.DEVNULL, cwd="/",
                                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(),
                                             start_new_session=True, user=user, group=user,
                                             extra_groups=None if user is None else [])  # fmt: skip
        for extra in descriptors[1:]:
            os.close(extra)
        self._starting = own_end

    def _failure_reason(self) -> str:
        assert self._process is not None and self._process.stderr is not None
        self._process.kill()
        lines = self._process.stderr.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "the warm process did not start"

    def close(self) -> None:
        """Ends the warm process; the next `start` makes a new one. Boxes end by their own `stop`."""
        for channel in (self._control, self._starting):
            if channel is not None:
                channel.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stderr is not None:
                self._process.stderr.close()
        self._control = self._starting = self._process = None


def _pid_of(status: socket.socket) -> int:
    """The process id, on the host, of the sender of the first message on `status`.

    Raises EOFError or OSError if the process has ended.
    """
    status.settimeout(20)
    message, ancillary, _, _ = status.recvmsg(64, socket.CMSG_SPACE(12))
    status.settimeout(None)
    if message != b"ready":
        raise EOFError("the warm process failed to fork")
    return next(struct.unpack("3i", data)[0] for _, kind, data in ancillary if kind == socket.SCM_CREDENTIALS)


def environment() -> dict[str, str]:
    """The environment variables of the box's processes; they see nothing else of the grader's environment."""
    keep = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/box", "TMPDIR": "/tmp", "MPLBACKEND": "agg",
            "IPYTHONDIR": "/tmp/ipython", "MPLCONFIGDIR": "/tmp/matplotlib", "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1", "PYTORCH_NVML_BASED_CUDA_CHECK": "1", "PYTHONHASHSEED": "0",
            "TORCHDYNAMO_DISABLE": "1"}  # fmt: skip
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):  # a box uses the one GPU that the grader was given
        if name in os.environ:
            keep[name] = os.environ[name]
    if "LD_LIBRARY_PATH" in os.environ:  # some installations need it to find the interpreter's libraries
        keep["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    return keep


def interpreter() -> str:
    """The path of the running Python with links resolved, since that of a virtual environment is a link."""
    return os.path.realpath(sys.executable)
