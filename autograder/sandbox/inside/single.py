"""One box that is started as a program of its own, for containers, which cannot be forked from a warm process.

`python -I -S single.py SETTINGS_JSON` reads frames from descriptor 0 and writes them to 1; first it writes `warm`.
"""

from __future__ import annotations

import json
import os
import sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import zygote


class Pipes:
    """The two descriptors behind the methods of a socket that the frames' reader and writer call."""

    def __init__(self) -> None:
        self.reading, self.writing = os.dup(0), os.dup(1)

    def settimeout(self, seconds: float | None) -> None:
        """Like a socket's, but only None (no limit) is supported."""
        assert seconds is None, "the box waits for the grader as long as it takes"

    def recv(self, size: int) -> bytes:
        """At most `size` bytes; empty if the grader is gone."""
        return os.read(self.reading, size)

    def send(self, data: memoryview) -> int:
        """Writes as much as possible at once; returns the number of bytes. Raises OSError if the grader is gone."""
        return os.write(self.writing, data)


def main() -> None:
    """Imports torch, applies the limits, reports `warm`, and answers until the grader closes the pipe."""
    settings = json.loads(sys.argv[1])
    pipes = Pipes()
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    modules = zygote.warm_up(settings["path"])
    zygote.set_limits({"isolate": "", **settings})
    os.chdir("/box")
    zygote.reseed()
    agent = modules["agent"].Agent(pipes, settings["output_bytes"])
    os.write(pipes.writing, b"warm")
    agent.serve()


if __name__ == "__main__":
    main()
