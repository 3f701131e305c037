"""Data types shared by the parts of the autograder. Imports neither torch nor tfkit, so that it is cheap to load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

Status = Literal["passed", "failed", "not_graded", "not_run"]
Property = Literal["values", "shapes", "gradients", "dtypes", "edges", "cost", "purity"]  # what can earn points
PROPERTIES: tuple[Property, ...] = get_args(Property)
UNCOMPARED: tuple[Property, ...] = ("purity", "cost", "dtypes")  # right answers differ in these, too
MAX_EDGE_SHARE = 0.25  # largest share of an exercise's points for edge cases, such as a fully masked row


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Resource limits of one box, which runs one student's code for one exercise."""

    # processor time of the box, and three times as much by the wall's clock from start to end; where nobody can count
    # its processor's time, wall time
    wall_s: float = 60.0
    call_s: float = 10.0  # processor time of one call or of one cell
    backstop: float | None = None  # wall time of a call, as a multiple of call_s; None: three
    memory_mb: int = 2048
    processes: int = 64
    output_bytes: int = 1 << 18


@dataclass(frozen=True)
class FormChange:
    """How a value differs from the course's: expressions in `{x}` for the way there and back, which undo each other."""

    to_course: str
    from_course: str


@dataclass(frozen=True)
class Contract:
    """Another contract of an exercise. `arguments` and `result`: what differs from the course's own."""

    name: str
    sentence: str  # for the student: what is asked for instead
    result: FormChange | None = None
    arguments: tuple[tuple[str, FormChange], ...] = ()
    results_of: tuple[tuple[str, str], ...] = ()  # collected answer -> how its result, of another type, differs

    def change_of(self, parameter: str) -> FormChange | None:
        """The change of an argument, if it has one."""
        return dict(self.arguments).get(parameter)


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise of a unit. `symbols[i]` is graded against `references[i]` (dotted `module:name`)."""

    id: str
    unit: str  # "03-heads", the folder and the nbgrader assignment
    title: str
    symbols: tuple[str, ...]
    references: tuple[str, ...]
    checks: str  # name of the function in the unit's checks.py
    points: float = 1.0
    folder: Path | None = None  # the unit's folder, where checks.py and submissions/ are
    contracts: tuple[Contract, ...] = ()  # other contracts of the same idea; see exercises.contracts
    contract: Contract | None = None  # the one that is asked for; None: the course's own


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """The outcome of one property."""

    name: str
    status: Status
    message: str = ""
    weight: float = 1.0
    points: float = 0.0  # the part of the exercise's points that it earned
    of: float = 0.0  # the points that it could earn
    property: Property | None = None  # what it checks; None for what comes before the properties
    map: tuple[str, ...] = ()  # which input moves which output, a row of signs per output; see checks.properties.flow


@dataclass(frozen=True)
class Remark:
    """What could be better in an answer, without points: a name, a sentence, and the line in the file or the cell."""

    name: str
    text: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The grader's result for one exercise of one submission."""

    exercise: str
    status: Status
    score: float
    max_score: float
    checks: tuple[CheckResult, ...] = ()
    misconception: str | None = None  # name of the wrong answer that this one behaves like, the first of several
    misconceptions: tuple[str, ...] = ()  # the names of all mistakes that were found in it
    hint: str | None = None  # the sentence for the student about it
    distance: int | None = None  # how few known edits lead to a right answer; None if that is unknown or not verified
    line: int | None = None  # 1-based, in the file or the cell: where it first departs from right answers
    departure: dict[str, Any] | None = None  # what departs there, in words; see localize.fault
    question: dict[str, Any] | None = None  # text, yours, right: what must hold in the counter-example
    counterexample: dict[str, Any] | None = None
    remarks: tuple[Remark, ...] = ()  # on idiom and design; they cost no points
    seed: int = 0
    device: str = "cpu"
    sandbox: str = ""
    file: str = ""
    reason: str = ""  # why the answer was not graded, or what stopped its code
    title: str = ""  # the exercise's, in the reader's language; empty if nobody knows it
    ordering: bool = False  # whether the lines of a right answer are offered, to be put in order
    section: tuple[str, str] | None = None  # the unit and the heading of its lesson under which it is taught
    outputs: dict[str, list[dict]] = field(default_factory=dict)  # cell id -> notebook outputs of the boxed run

    def as_json(self) -> dict[str, Any]:
        """The object that `autograder check --json` prints, one per line."""
        keep = asdict(self)
        del keep["outputs"]
        keep["misconceptions"] = list(self.misconceptions)
        keep["remarks"] = list(keep["remarks"])
        for check in keep["checks"]:
            del check["weight"]
        return keep


SEPARATOR = " + "  # between the names of several mistakes, in a line for people


def misconceptions_of(verdict: Mapping[str, Any]) -> list[str]:
    """The names of all mistakes in a verdict's JSON object. One of an earlier version holds them in one text."""
    names = verdict.get("misconceptions")
    if names and isinstance(names, list | tuple):
        return [name for name in names if isinstance(name, str)]
    main = verdict.get("misconception")
    return main.split(SEPARATOR) if isinstance(main, str) and main else []


HINTS = 3  # the number of hint levels
BESIDES = "And besides:"  # stands in a hint before each mistake after the first


def with_hints(verdict: Mapping[str, Any], steps: int = HINTS) -> dict[str, Any]:
    """A verdict's JSON object with the first steps of its help: 1 question and concept, 2 symptoms and line,
    3 counter-example, and the answer to the question.

    The lines to put in order are offered with the first. The instructor decides how many steps a student sees; which
    checks passed and failed is always shown.
    """
    kept = dict(verdict)
    if steps < 1:
        kept["misconception"] = kept["hint"] = None
        kept["misconceptions"] = []
        kept["ordering"] = False
        kept["question"] = None
    if steps < 2:
        checks = kept.get("checks") or ()  # the reason why a check was not run gives nothing away, so it stays
        kept["checks"] = [c if c["status"] == "not_run" else {**c, "message": "", "map": ()} for c in checks]
        kept["line"] = kept["departure"] = None
        kept["remarks"] = []
    if steps < 3:
        kept["counterexample"] = None
        if kept.get("question"):
            kept["question"] = {**kept["question"], "right": None}
        if kept.get("departure"):
            kept["departure"] = {**kept["departure"], "value": None, "steps": []}
    return kept
