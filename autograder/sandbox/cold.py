"""The base of backends that start a new program, such as a container, for each box instead of forking one."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
from abc import abstractmethod

from autograder.api import Limits
from autograder.sandbox.base import START_S, Backend, Box, SandboxError
from autograder.sandbox.bubblewrap import PACKAGES
from autograder.sandbox.cgroup import Group, NoCgroup


class ColdBox(Box):
    """A box that ends when the command that runs it ends."""

    def __init__(self, channel: socket.socket, running: subprocess.Popen[bytes], remove: list[str],
                 group: Group) -> None:  # fmt: skip
        super().__init__(channel, socket.socket(), running.pid, group, None, self._end)
        self.running, self.remove = running, remove

    def exit_reason(self, wait_s: float = 2.0) -> tuple[str, str]:
        """(kind, message) from the exit status of the command that ran the box; waits for it up to `wait_s` seconds."""
        try:
            code = self.running.wait(wait_s)
        except subprocess.TimeoutExpired:
            return "crash", "the box no longer answers"
        if self.group.oom_kills() or code in (137, -signal.SIGKILL):  # how engines report that the kernel killed it
            return "memory", "the code was stopped, most likely because it used more memory than it may"
        return "crash", f"the process exited with status {code}"

    @property
    def is_timed(self) -> bool:
        """See `Box.is_timed`: the processes of an engine's box are no children of the command that runs it."""
        return bool(self.group.kind)

    def stop(self) -> None:
        """Removes the box by the engine's own command, then ends our own processes. Safe to call twice."""
        super().stop()
        self.running.wait()
        if self.running.stderr is not None:
            self.running.stderr.close()

    def _end(self, *_: int) -> None:
        subprocess.run(self.remove, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        self.running.kill()


class ColdBackend(Backend):
    """Starts `inside/single.py` by the backend's command; frames go through its standard input and output."""

    isolated = True
    scratch_mb = 256

    @abstractmethod
    def command(self, name: str, limits: Limits, program: list[str]) -> list[str]:
        """The command line that runs `program` in a box called `name`.

        Raises SandboxError if the engine is not installed.
        """

    @abstractmethod
    def remove(self, name: str) -> list[str]:
        """The command line that ends the box called `name`, and all that is in it."""

    def group(self, limits: Limits) -> Group:
        """A control group for the command, for engines that make none for the box."""
        return NoCgroup()

    def start(self, limits: Limits) -> Box:
        """A new box that has reported `warm`. Raises SandboxError if it does not within START_S seconds."""
        name = f"box-{os.getpid()}-{secrets.token_hex(4)}"
        settings = {"path": [PACKAGES], "memory_mb": limits.memory_mb, "wall_s": limits.wall_s,
                    "output_bytes": limits.output_bytes, "scratch_mb": self.scratch_mb}  # fmt: skip
        # the interpreter has the same path as on the host, because its folder is bound there
        program = ["-I", "-S", "-B", "/inside/single.py", json.dumps(settings)]
        command = self.command(name, limits, program)
        channel, child_end = socket.socketpair()
        with child_end:
            running = subprocess.Popen(command, stdin=child_end.fileno(), stdout=child_end.fileno(),
                                       stderr=subprocess.PIPE, cwd="/", start_new_session=True)  # fmt: skip
        group = self.group(limits)
        group.add(running.pid)
        box = ColdBox(channel, running, self.remove(name), group)
        channel.settimeout(START_S)
        try:
            warm = channel.recv(4, socket.MSG_WAITALL)
        except TimeoutError:
            warm = b""
        if warm != b"warm":
            running.kill()
            assert running.stderr is not None
            errors = running.stderr.read().decode("utf-8", "replace").strip().splitlines()
            box.stop()
            raise SandboxError(f"{self.name}: {errors[-1] if errors else 'the box did not start'}")
        return box
