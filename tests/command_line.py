"""Calls the `main` of a command in this process, as a terminal would, and says how it ended and what it printed."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest.mock import patch


class Outcome(NamedTuple):
    """status: the exit status; stdout, stderr: what was printed; output: both together, in order."""

    status: int
    stdout: str
    stderr: str
    output: str


class Tee(io.StringIO):
    """Standard output or error, which is kept once more in what both write to."""

    def __init__(self, both: io.StringIO) -> None:
        super().__init__()
        self.both = both

    def write(self, text: str) -> int:
        self.both.write(text)
        return super().write(text)


def call(main: Callable[[Sequence[str]], object], *arguments: object, typed: str = "") -> Outcome:
    """How the command ends with these arguments; `typed` is its standard input."""
    both = io.StringIO()
    out, err, status = Tee(both), Tee(both), 0
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", io.StringIO(typed)):
        try:
            main([str(one) for one in arguments])
        except SystemExit as end:
            status = int(end.code or 0)
    return Outcome(status, out.getvalue(), err.getvalue(), both.getvalue())
