"""Where the fault of an answer is, and the values that show it."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.checks.probe import Finding
from autograder.localize.align import Departure, FaultyVersion, RightTraces
from autograder.localize.runs import Decision
from autograder.localize.trace import Trace


@dataclass(frozen=True)
class FaultLocation:
    """The location of the fault, and the values compared there."""

    cell: str  # id of the student's cell
    line: int  # of that cell, from 1
    trace: Trace | None = None  # of the student's answer; None if only the parameters were compared
    right_traces: RightTraces = RightTraces()  # of the right answers to the same question
    departure: Departure | None = None  # the first value that no right answer computes
    faulty_version: FaultyVersion | None = None  # the value at fault, which may be an operand of what departs
    event: int | None = None  # in `trace`: the change, the call or the step that is shown
    finding: Finding | None = None  # the failed check whose question was asked again
    inside: str = ""  # the call in this line, if what departs is in the code of another cell
    inside_right: bool = False  # whether that code is known to be right, so that what it is given must be wrong
    misused: str = ""  # the call in this line, if the code that it calls is right in its other calls
    built: str = ""  # the part of a module that makes something else of right values, wherever it was built
    decision: Decision | None = None  # the change of the student's own values that makes the answer right
    error: str = ""  # the exception that is raised in this line
    sure: bool = False  # an exception, a change of an argument, or the right value there repairs the answer
    doubtful: bool = False  # it would, but other arguments would do so as well
    larger: FaultLocation | None = None  # the same on the larger input that decided, where this is the input shown
