"""What the parts of the autograder say to one another. Imports neither torch nor tfkit, so that it is cheap to load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

Status = Literal["passed", "failed", "not_graded", "not_run"]
Property = Literal["values", "shapes", "gradients", "dtypes", "edges", "cost", "purity"]  # what points are earned for
PROPERTIES: tuple[Property, ...] = get_args(Property)
MOST_AT_EDGES = 0.25  # of an exercise's points; where nothing may be seen, say, or nothing is to be counted


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one box may use while it holds one student's code for one exercise."""

    wall_s: float = 60.0  # the whole life of the box
    call_s: float = 10.0  # of the processor, one call, one cell
    backstop: float | None = None  # times that on the wall; None: three
    memory_mb: int = 2048
    processes: int = 64
    output_bytes: int = 1 << 18


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One thing a student builds. `symbols[i]` is graded against `references[i]` (dotted `module:name`)."""

    id: str
    unit: str  # "03-heads", the folder and the nbgrader assignment
    title: str
    symbols: tuple[str, ...]
    references: tuple[str, ...]
    checks: str  # name of the function in the unit's checks.py
    points: float = 1.0
    folder: Path | None = None  # the unit's folder, where checks.py and submissions/ are


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The outcome of one property."""

    name: str
    status: Status
    message: str = ""
    weight: float = 1.0
    points: float = 0.0  # of the exercise's, earned by it
    of: float = 0.0  # so many could be
    property: Property | None = None  # what it looks at; None for what is asked before any property is
    map: tuple[str, ...] = ()  # which input moves which output, a row of signs per output; see checks.properties.flow


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the grader says of one exercise of one submission."""

    exercise: str
    status: Status
    score: float
    max_score: float
    checks: tuple[CheckResult, ...] = ()
    misconception: str | None = None  # name of the wrong/ submission it behaves like
    hint: str | None = None  # that submission's sentence to the student
    line: int | None = None  # 1-based in the file, or in the cell: where the answer first departs from right ones
    departure: dict[str, Any] | None = None  # what departs there, in words; see localize.tell
    counterexample: dict[str, Any] | None = None
    seed: int = 0
    device: str = "cpu"
    sandbox: str = ""
    file: str = ""
    reason: str = ""  # why it was not graded, or what stopped the student's code
    outputs: dict[str, list[dict]] = field(default_factory=dict)  # cell id -> notebook outputs of the boxed run

    def as_json(self) -> dict[str, Any]:
        """The object that `autograder check --json` prints, one a line."""
        keep = asdict(self)
        del keep["outputs"]
        for check in keep["checks"]:
            del check["weight"]
        return keep


HINTS = 3  # the steps that there are


def with_hints(verdict: Mapping[str, Any], steps: int = HINTS) -> dict[str, Any]:
    """A verdict's JSON object with the first steps of its help: 1 concept, 2 symptoms and line, 3 counter-example.

    How many a student sees is the instructor's choice; what passed and what failed is told in any case.
    """
    kept = dict(verdict)
    if steps < 1:
        kept["misconception"] = kept["hint"] = None
    if steps < 2:
        checks = kept.get("checks") or ()  # why one was not run is no help, and stays
        kept["checks"] = [c if c["status"] == "not_run" else {**c, "message": "", "map": ()} for c in checks]
        kept["line"] = kept["departure"] = None
    if steps < 3:
        kept["counterexample"] = None
        if kept.get("departure"):
            kept["departure"] = {**kept["departure"], "value": None, "steps": []}
    return kept
