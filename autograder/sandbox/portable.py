"""Checks on macOS and Windows, where the boxes for Linux don't exist: one new process for each check.

It is meant for students' own code, which runs in their own kernel anyway. Do not grade other people's code with it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from autograder.api import Limits
from autograder.sandbox.base import INSIDE, START_S, Backend, Box, SandboxError, environment, interpreter
from autograder.sandbox.cgroup import NoCgroup
from autograder.sandbox.job import Job
from autograder.sandbox.packages import package_paths


class PortableBox(Box):
    """A box that is one process and ends with it."""

    def __init__(self, channel: socket.socket, running: subprocess.Popen[bytes], folder: Path, job: Job | None) -> None:
        super().__init__(channel, socket.socket(), running.pid, NoCgroup(), folder)
        self.running, self.job = running, job

    def exit_reason(self, wait_s: float = 2.0) -> tuple[str, str]:
        """(kind, message) from the process's exit status; waits for it up to `wait_s` seconds."""
        try:
            code = self.running.wait(wait_s)
        except subprocess.TimeoutExpired:
            return "crash", "the process no longer answers"
        return "crash", f"the process exited with status {code}"

    def stop(self) -> None:
        """Ends the process, and on Windows all that it started; removes its folder. Safe to call twice."""
        if self.stopped:
            return
        self.stopped = True
        self.running.kill()
        self.running.wait()
        if self.job is not None:
            self.job.close()
        self.channel.close()
        self.status.close()
        if self.running.stderr is not None:
            self.running.stderr.close()
        shutil.rmtree(str(self.cwd), ignore_errors=True)


class Portable(Backend):
    """NOT ISOLATED: a process that can read files and use the network. It needs no feature of the operating system."""

    name = "subprocess"
    isolated = False

    @classmethod
    def runs_on(cls, system: str) -> bool:
        """True everywhere but on Linux, which has isolated boxes."""
        return not system.startswith("linux")

    def command(self, port: int, folder: Path, program: list[str]) -> list[str]:
        """The command line that runs `program`, which will connect to `port` and write below `folder`."""
        return program

    def start(self, limits: Limits) -> Box:
        """A new process that has imported torch. Raises SandboxError if it did not within START_S seconds."""
        folder, token = Path(tempfile.mkdtemp(prefix="box-")), secrets.token_hex(16)
        listener = socket.create_server(("127.0.0.1", 0))
        with listener:
            listener.settimeout(1.0)
            port = listener.getsockname()[1]
            settings = {"path": package_paths(), "folder": str(folder), "port": port,
                        "output_bytes": limits.output_bytes}  # fmt: skip
            program = [interpreter(), "-I", "-S", "-B", str(INSIDE / "portable.py"), json.dumps(settings)]
            running = subprocess.Popen(self.command(port, folder, program), stdin=subprocess.PIPE,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder,
                                       env=self.environment(folder))  # fmt: skip
            job = Job(running.pid, limits) if sys.platform == "win32" else None
            assert running.stdin is not None
            running.stdin.write(token.encode())  # through the pipe, because other users can read command lines
            running.stdin.close()
            channel = self._accepted(listener, token, running)
        if channel is None:
            raise SandboxError(f"{self.name}: {self._failure_reason(running, folder)}")
        return PortableBox(channel, running, folder, job)

    @staticmethod
    def environment(folder: Path) -> dict[str, str]:
        """A box's environment with the folders of this one, and the variables that Windows needs."""
        needed = {name: os.environ[name] for name in ("SYSTEMROOT", "PATH") if name in os.environ}
        return {**environment(), **needed, "HOME": str(folder), "USERPROFILE": str(folder), "TMPDIR": str(folder),
                "TEMP": str(folder), "IPYTHONDIR": str(folder / "ipython"),
                "MPLCONFIGDIR": str(folder / "matplotlib")}  # fmt: skip

    @staticmethod
    def _accepted(listener: socket.socket, token: str, running: subprocess.Popen[bytes]) -> socket.socket | None:
        """The connection that sent the token, once the process has loaded torch; None if the process ended first."""
        for _ in range(int(START_S)):
            try:
                channel, _ = listener.accept()
            except TimeoutError:
                if running.poll() is not None:
                    return None
                continue
            channel.settimeout(START_S)
            if channel.recv(len(token), socket.MSG_WAITALL) == token.encode():
                channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return channel
            channel.close()
        return None

    @staticmethod
    def _failure_reason(running: subprocess.Popen[bytes], folder: Path) -> str:
        running.kill()
        _, errors = running.communicate()
        shutil.rmtree(folder, ignore_errors=True)
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "the process did not start"

    def describe(self) -> dict[str, str]:
        """See `Backend.describe`."""
        return {
            "backend": "subprocess, NOT ISOLATED",
            "network": "open",
            "filesystem": "open",
            "processes": "ended with the check" if sys.platform == "win32" else "what it starts goes on running",
            "memory": "a job object's limit" if sys.platform == "win32" else "open",
            "time": "a timer inside, a deadline outside",
            "missing": "isolation: for your own code; grading others needs Linux",
        }


class SandboxExec(Portable):
    """The same process in macOS's sandbox-exec: it can connect only to the grader and write only to its folder."""

    name = "sandbox-exec"
    rank = 90

    @classmethod
    def runs_on(cls, system: str) -> bool:
        """True only on macOS."""
        return system == "darwin"

    def command(self, port: int, folder: Path, program: list[str]) -> list[str]:
        """`sandbox-exec` with a profile for this process."""
        return ["sandbox-exec", "-p", self.profile(port, folder), *program]

    def profile(self, port: int, folder: Path) -> str:
        """What is allowed, in the language of sandbox-exec; later rules win."""
        home = os.path.realpath(Path.home())
        shown = [os.path.realpath(path) for path in (sys.base_prefix, str(INSIDE), str(folder), *package_paths())]
        return "\n".join([
            "(version 1)", "(allow default)", "(deny network*)",
            f'(allow network-outbound (remote ip "localhost:{port}"))',
            "(deny file-write*)", f"(allow file-write* (subpath {_quoted(os.path.realpath(folder))}))",
            '(allow file-write* (literal "/dev/null"))', f"(deny file-read* (subpath {_quoted(home)}))",
            *(f"(allow file-read* (subpath {_quoted(path)}))" for path in shown),
        ])  # fmt: skip

    def probe(self) -> None:
        """See `Backend.probe`; also raises SandboxError if there is no sandbox-exec."""
        if shutil.which("sandbox-exec") is None:
            raise SandboxError("sandbox-exec: not on this machine")
        super().probe()

    def describe(self) -> dict[str, str]:
        """See `Backend.describe`."""
        return super().describe() | {
            "backend": "sandbox-exec round a subprocess; NOT for grading others: it was never attacked",
            "network": "only to the grader",
            "filesystem": "no home but for Python and its packages; writes go to a folder that is removed",
        }


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


BACKENDS = (SandboxExec, Portable)
