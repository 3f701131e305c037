"""Where the fault of an answer is, and the values that show it."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.checks.probe import Finding
from autograder.localize.align import Departure, FaultyVersion
from autograder.localize.trace import Trace


@dataclass(frozen=True)
class FaultLocation:
    """The location of the fault, and the values compared there."""

    cell: str
    line: int
    trace: Trace | None = None
    right_traces: tuple[Trace, ...] = ()
    departure: Departure | None = None
    faulty_version: FaultyVersion | None = None
    event: int | None = None
    finding: Finding | None = None
    inside: str = ""  # the call in this line, if what departs is in the code of another cell
    inside_right: bool = False  # whether that code is known to be right, so that what it is given must be wrong
    misused: str = ""  # the call in this line, if the code that it calls is right in its other calls
    built: str = ""  # the part of a module that makes something else of right values, wherever it was built
    error: str = ""  # the exception that is raised in this line
    sure: bool = False  # an exception, a change of an argument, or the right value there repairs the answer
    doubtful: bool = False  # it would, but other arguments would do so as well
