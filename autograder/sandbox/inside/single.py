"""One box, started as a program of its own: for containers, which cannot be forked from a warm process.

`python -I -S single.py SETTINGS_JSON`; frames come in at descriptor 0 and go out at 1. It says `warm` once, unframed.
"""

from __future__ import annotations

import json
import os
import sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import zygote


class Pipes:
    """The two descriptors with a socket's methods, as the frames' reader and writer call them."""

    def __init__(self) -> None:
        self.reading, self.writing = os.dup(0), os.dup(1)

    def settimeout(self, seconds: float | None) -> None:
        """A socket's; only None, no limit, is known here."""
        assert seconds is None, "the box waits for the grader as long as it takes"

    def recv(self, size: int) -> bytes:
        """At most `size` bytes; none where the grader is gone."""
        return os.read(self.reading, size)

    def send(self, data: memoryview) -> int:
        """Writes what goes at once; how many bytes that was. Raises OSError where the grader is gone."""
        return os.write(self.writing, data)


def main() -> None:
    """Imports, limits itself by the settings, says `warm`, and answers until the grader closes the pipe."""
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
