"""Grades what is handed in for a hunt: the suspected lines, a test and a repaired source, each for points of its own.

The repair is graded by the exercise's checks as any answer is, the test on code that it has not seen. The verdict is
formed outside the boxes in which both run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from autograder.api import Status, Verdict
from autograder.feedback.translate import say
from autograder.grade.run import grade_source
from autograder.hunts.make import Hunt, changed_lines
from autograder.hunts.own_test import BadTest, TestReport, judge_test, read_test
from autograder.hunts.pages import PageHunt
from autograder.sandbox.base import Backend

LINES_OF, TEST_OF, REPAIR_OF = 1.0, 1.5, 1.5  # points
CATCHES_OF = 1.0  # points of the test's for failing on the hunt's code; the rest is for the other mistakes it finds
NOT_HANDED_IN = "Nothing was handed in for this."
ALL_LINES = "You suspected the right place."
SOME_LINES = "You suspected the places of {found} of {faults} faults."
NO_LINES = "The fault is not in the lines that you suspected."
MORE_LINES = "Lines that you suspected and that have no fault: {more} of {count}."
CATCHES = "Your test fails on this code, as it should."
MISSES = "Your test passes on this code, although it has a fault."
KNOWS_CODE = (
    "Your test fails on this code, but passes on the same code in other words. A test may ask only for what code does."
)
SAYS = "It says: {message}"
NO_ALARM = "It passes on right answers in all {count} styles."
FALSE_ALARM = (
    "It fails on {count} of {right} right answers, so nothing can be concluded where it fails. A test may ask only for "
    "what every right answer does."
)
KILLS = "It also fails on {killed} of {others} other known mistakes of this exercise."
REPAIRED = "The repaired code passes all checks."
REPAIRED_PAGE = "The repaired code computes what the published model computes, for {count} draws of weights and inputs."
STILL = "The repaired code behaves as the faulty code did."
NOT_REPAIRED = "The repaired code does not pass yet: {checks}."
NOT_JUDGED = "The repaired code could not be graded: {reason}."
NO_NEARER = "The repaired code is no nearer to a right answer than the faulty code was, so it earns no points."
CHANGED = "Lines that you changed: {count}; in the smallest repair that is known: {least}."

Name = Literal["lines", "test", "repair"]


@dataclass(frozen=True)
class HuntPart:
    """One of the three parts of a hunt. `missed`: the names of other mistakes that the test does not find."""

    name: Name
    status: Status
    points: float
    of: float
    sentences: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


@dataclass(frozen=True)
class HuntVerdict:
    """The grader's result for one hunt. It passes with a right repair and a test that can be relied on."""

    exercise: str
    status: Status
    parts: tuple[HuntPart, ...]
    sandbox: str = ""

    @property
    def score(self) -> float:
        """The points of all parts."""
        return sum(part.points for part in self.parts)

    @property
    def max_score(self) -> float:
        """The points that can be had."""
        return sum(part.of for part in self.parts)

    def as_json(self) -> dict[str, Any]:
        """The object that `autograder hunts check --json` prints."""
        return {**asdict(self), "score": self.score, "max_score": self.max_score}


@dataclass(frozen=True)
class HuntSubmission:
    """What a student hands in for a hunt; None for a part that is left out."""

    lines: tuple[int, ...] | None = None
    test: str | None = None
    repair: str | None = None


def judge(hunt: Hunt, submission: HuntSubmission, backend: Backend) -> HuntVerdict:
    """The verdict on all three parts."""
    parts = (
        judge_lines(hunt, submission.lines),
        judge_part_test(submission.test, lambda source: judge_test(hunt, read_test(hunt.exercise, source), backend)),
        judge_repair(hunt, submission.repair, backend),
    )
    states = {part.name: part.status for part in parts}
    passed = states["test"] == states["repair"] == "passed"
    status: Status = "not_graded" if "not_graded" in states.values() else "passed" if passed else "failed"
    return HuntVerdict(hunt.exercise.id, status, parts, backend.name)


def judge_lines(hunt: Hunt | PageHunt, lines: Sequence[int] | None) -> HuntPart:
    """The share of the faults that the lines hit, times the share of the lines that hit one."""
    if lines is None:
        return left_out("lines", LINES_OF)
    suspected = set(lines)
    found = sum(bool(suspected & set(place)) for place in hunt.fault_lines)
    hits = suspected & {line for place in hunt.fault_lines for line in place}
    faults, more = len(hunt.fault_lines), len(suspected - hits)
    words = [
        say(ALL_LINES) if found == faults else say(SOME_LINES, found=found, faults=faults) if found else say(NO_LINES)
    ]
    if found and more:
        words.append(say(MORE_LINES, more=more, count=len(suspected)))
    points = LINES_OF * (found / faults) * (len(hits) / max(len(suspected), 1))
    return HuntPart("lines", "passed" if found == faults and not more else "failed", points, LINES_OF, tuple(words))


def judge_part_test(source: str | None, report_of: Callable[[str], TestReport]) -> HuntPart:
    """The part for a test; `report_of` runs one, and raises BadTest for what is none."""
    if source is None or not source.strip():
        return left_out("test", TEST_OF)
    try:
        return part_of_test(report_of(source))
    except BadTest as error:
        return HuntPart("test", "failed", 0.0, TEST_OF, (str(error),))


def part_of_test(report: TestReport) -> HuntPart:
    """Points and sentences for what a test found. A test that right code fails earns nothing: it proves nothing."""
    words = [say(CATCHES) if report.catches else say(KNOWS_CODE) if report.knows_code else say(MISSES)]
    if report.message:
        words.append(say(SAYS, message=report.message))
    if report.accepted < report.right:
        words.append(say(FALSE_ALARM, count=report.right - report.accepted, right=report.right))
        return HuntPart("test", "failed", 0.0, TEST_OF, tuple(words))
    words.append(say(NO_ALARM, count=report.right))
    killed = report.killed / report.others if report.others else float(report.catches)
    if report.others:
        words.append(say(KILLS, killed=report.killed, others=report.others))
    points = CATCHES_OF * report.catches + (TEST_OF - CATCHES_OF) * killed
    return HuntPart("test", "passed" if report.catches else "failed", points, TEST_OF, tuple(words), report.missed)


def judge_repair(hunt: Hunt, source: str | None, backend: Backend) -> HuntPart:
    """All points for a right answer; else the share of the way to it from the points that the faulty code would have.

    The usual rule gives points for being few changes away and for each check, and the faulty code that everybody gets
    has those already.
    """
    if source is None or not source.strip():
        return left_out("repair", REPAIR_OF)
    verdict = grade_source(hunt.exercise, source, backend=backend, device="cpu")
    if verdict.status == "not_graded":
        return HuntPart("repair", "not_graded", 0.0, REPAIR_OF, (say(NOT_JUDGED, reason=verdict.reason),))
    counts = say(CHANGED, count=changed_lines(hunt.code, source), least=hunt.changed_lines)
    if verdict.status == "passed":
        return HuntPart("repair", "passed", REPAIR_OF, REPAIR_OF, (say(REPAIRED), counts))
    if _has_all_faults(hunt, source, verdict):
        return HuntPart("repair", "failed", 0.0, REPAIR_OF, (say(STILL),))
    before = grade_source(hunt.exercise, hunt.code, backend=backend, device="cpu", seed=verdict.seed)
    if before.status == "not_graded":
        return HuntPart("repair", "not_graded", 0.0, REPAIR_OF, (say(NOT_JUDGED, reason=before.reason),))
    nearer, fails = _share_of_way(hunt, before, verdict), say(NOT_REPAIRED, checks=_failed(verdict))
    return HuntPart("repair", "failed", REPAIR_OF * nearer, REPAIR_OF, (fails, counts if nearer else say(NO_NEARER)))


def _share_of_way(hunt: Hunt, before: Verdict, after: Verdict) -> float:
    """How far the repair leads from the faulty code's points to all of them; 0 if it is as many edits away."""
    left = before.max_score - before.score
    if left <= 0 or (after.distance is not None and after.distance >= len(hunt.faults)):
        return 0.0
    return max(0.0, after.score - before.score) / left


def _has_all_faults(hunt: Hunt, source: str, verdict: Verdict) -> bool:
    """Whether nothing was repaired: the text is the same, or the code is recognised as having each fault."""
    return changed_lines(hunt.code, source) == 0 or set(hunt.names) <= set(verdict.misconceptions)


def _failed(verdict: Verdict) -> str:
    """The names of the checks that fail, or what stopped the code."""
    names = [say(check.name).replace("_", " ") for check in verdict.checks if check.status == "failed"]
    return verdict.reason or ", ".join(dict.fromkeys(names))


def left_out(name: Name, of: float) -> HuntPart:
    """A part that was not handed in."""
    return HuntPart(name, "not_run", 0.0, of, (say(NOT_HANDED_IN),))
