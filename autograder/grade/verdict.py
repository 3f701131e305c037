"""The verdict on one attempt: from what the checks found in a box to status, points, and the words for the student."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.api import CheckResult, Exercise, Remark, Status, Verdict
from autograder.checks.compare import RaisedError
from autograder.checks.probe import Finding
from autograder.checks.properties.parameters import PARAMETERS
from autograder.credit.rule import Distance, credit_points, spread
from autograder.diagnosis.diagnose import Misconception, counterexample, diagnose, diagnose_edge
from autograder.feedback.translate import say
from autograder.feedback.words import places, sentence
from autograder.sandbox.client import CellOutcome
from autograder.settings import points
from autograder.settings.credit import DEFAULT, CreditRule

NOTHING_FITS = "This is not one of the known mistakes; what the checks found may tell you where to look."
NOT_WRITTEN = "not written yet"
WITHHELD = "wrong with right answers to the earlier exercises, too: correct yours first, to see more here"
WITHHELD_LINE = "here the values depart from right ones"


@dataclass
class Attempt:
    """The outcome of running the checks in one box."""

    cells: list[CellOutcome]
    findings: list[Finding] = field(default_factory=list)
    missing: str = ""  # why there was nothing to examine, or why what was examined does not count
    follows_contract: bool = True  # whether what was examined has the form of its contract; else `missing` says so
    step: str | None = None  # the first of several layers that goes wrong
    departure: dict[str, Any] | None = None  # the first line whose values depart from those of right answers
    relation: str = ""  # of the value there to the right one
    question: dict[str, Any] | None = None  # about the example; see localize.question
    named: Misconception | None = None  # the collected misconception that it shows
    partly_named: Misconception | None = None  # a collected mistake, with what is wrong besides
    explanation: str = ""  # what else can be said of it
    recognised: Misconception | None = None  # the course's own misconception that it behaves like
    distance: Distance | None = None  # how few known edits lead to a right answer, if that was verified
    remarks: list[Remark] = field(default_factory=list)  # on an answer that is right
    withheld: bool = False  # references of earlier exercises were in the box: nothing that came out of it is shown

    @property
    def passed(self) -> bool:
        """Whether something was examined and every check passed."""
        return not self.missing and not any(finding.failed for finding in self.findings)

    @property
    def outputs(self) -> dict[str, list[dict]]:
        """Notebook outputs by cell id."""
        return {cell.id: cell.outputs for cell in self.cells}


def has_other_findings(exercise: Exercise, second: Attempt, first: Attempt) -> bool:
    """Whether other checks fail in the second attempt, or a misconception is found in it that is not in the first."""
    if _outcomes(second) != _outcomes(first):
        return True
    if finds_the_same(second, first):
        return False  # the earlier answers change nothing: the first attempt can be shown in full
    found = diagnose(exercise, second.findings)
    return found is not None and found != diagnose(exercise, first.findings)


def finds_the_same(second: Attempt, first: Attempt) -> bool:
    """Whether the second attempt, with references of earlier exercises, finds the same as the first, word for word."""
    if second.missing or _outcomes(second) != _outcomes(first):
        return False
    return [finding.message for finding in second.findings] == [finding.message for finding in first.findings]


def _outcomes(attempt: Attempt) -> list[tuple[str, str, bool]]:
    return [(finding.check.name, finding.check.not_run, bool(finding.failed)) for finding in attempt.findings]


def verdict_of(
    exercise: Exercise, verdict: Verdict, attempt: Attempt, lack: str, weights: Mapping[str, float],
    credit: CreditRule = DEFAULT,
) -> Verdict:  # fmt: skip
    """`verdict` (exercise, seed, box, device) with what the attempt amounts to: status, points, hint, counterexample.

    lack: why nothing was run on a GPU; weights: the course's weights of the properties.
    """
    if attempt.missing:
        name, of = ("defined", 0.0) if attempt.follows_contract else ("form of the contract", exercise.points)
        checks: tuple[CheckResult, ...] = (CheckResult(name=name, status="failed", message=attempt.missing, of=of),)
        return replace(verdict, status="failed", checks=checks, reason=attempt.missing, outputs=attempt.outputs)
    verdict = replace(verdict, outputs=attempt.outputs)
    unwritten = unwritten_symbols(exercise, attempt.findings)
    if len(unwritten) == len(exercise.symbols):
        reason = f"{_listed(unwritten)} {'is' if len(unwritten) == 1 else 'are'} {NOT_WRITTEN}"
        checks = (CheckResult(name="written", status="failed", message=reason, of=exercise.points),)
        return replace(verdict, status="failed", checks=checks, reason=NOT_WRITTEN)
    checks = _results(exercise, attempt, weights)
    if lack and any(answer.probe.case.tensors() for finding in attempt.findings for answer in finding.answers):
        checks += (CheckResult(name="on a CUDA device", status="not_run", message=lack, weight=0.0),)
    blind = next((f.check for f in attempt.findings if f.check.not_run and f.check.core), None)
    if blind is not None:  # the check that decides could not be run
        return replace(verdict, checks=checks, reason=f"{blind.name} {blind.not_run}")
    found, stopped = attempt.named or attempt.recognised or attempt.partly_named, stopped_early(attempt)
    unknown = None if attempt.passed or stopped or found else explain_unknown_mistake(attempt)
    if unwritten:
        unknown = f"{_listed(unwritten)}: {say(NOT_WRITTEN)}."
    score, checks = _credit(exercise, attempt, checks, credit)
    return replace(
        verdict,
        status="passed" if attempt.passed else "failed",
        score=score,
        distance=attempt.distance.edits if attempt.distance else None,
        checks=checks,
        remarks=(*attempt.remarks, *_remarks_of_cost(attempt)),
        misconception=found.names[0] if found else None,
        misconceptions=found.names if found else (),
        hint=found.hint if found else unknown,
        line=attempt.departure["line"] if attempt.departure else None,
        departure=_departure(attempt),
        question=None if attempt.withheld else attempt.question,
        counterexample=None if attempt.withheld else counterexample(exercise, attempt.findings, attempt.step),
        reason=_not_seen(checks) if attempt.passed else stopped,
    )


def _credit(
    exercise: Exercise, attempt: Attempt, checks: tuple[CheckResult, ...], rule: CreditRule
) -> tuple[float, tuple[CheckResult, ...]]:
    """The points, and the checks with their parts of them: the one place where points are made."""
    if attempt.passed:
        return exercise.points, checks
    by_checks = round(math.fsum(check.points for check in checks), 2)
    score = round(credit_points(by_checks, exercise.points, attempt.distance, rule), 2)
    return score, checks if score == by_checks else spread(checks, score)


def _remarks_of_cost(attempt: Attempt) -> list[Remark]:
    """A cost that the statement does not ask to avoid: said without points, and without the values of an example."""
    return [Remark("cost", finding.message) for finding in attempt.findings if _is_free_cost(finding)]


def _is_free_cost(finding: Finding) -> bool:
    return finding.check.property == "cost" and not finding.check.graded and bool(finding.mismatches)


def _departure(attempt: Attempt) -> dict[str, Any] | None:
    """The line that departs; of a withheld attempt without the values there."""
    if attempt.departure is None or not attempt.withheld:
        return attempt.departure
    if attempt.departure["line"] is None:
        return None
    return attempt.departure | {"sentence": say(WITHHELD_LINE), "relation": "", "value": None, "steps": []}


def explain_unknown_mistake(attempt: Attempt) -> str:
    """The message if no collected mistake fits: the kind of mistake, or that it is not known either."""
    explanation = "" if attempt.withheld else attempt.explanation  # it is said with values and messages
    if not explanation and attempt.relation and not attempt.withheld:
        explanation = say("The first value that departs from right answers {relation}.", relation=attempt.relation)
    if not explanation:
        return say(NOTHING_FITS)
    return say("{explanation} It is not one of the known mistakes.", explanation=sentence(explanation))


def unwritten_symbols(exercise: Exercise, findings: Sequence[Finding]) -> list[str]:
    """The symbols that only raise NotImplementedError, as the released stub does."""
    raises: dict[str, list[bool]] = {}
    for finding in findings:
        for answer in finding.answers if finding.check.name != PARAMETERS else ():
            raises.setdefault(answer.probe.case.symbol, []).append(_is_stub(answer.actual))
    return [symbol for symbol in exercise.symbols if all(raises.get(symbol, [False]))]


def _is_stub(actual: Any) -> bool:
    """Whether it raised NotImplementedError itself, rather than torch for an unsupported dtype."""
    if not isinstance(actual, RaisedError) or actual.type_name != "NotImplementedError":
        return False
    return not any(words in actual.message for words in ("not implemented for", "Could not run", "aten::"))


def _listed(symbols: Sequence[str]) -> str:
    return ", ".join(f"`{symbol}`" for symbol in symbols)


def _not_seen(checks: Sequence[CheckResult]) -> str:
    """Which checks of a passed exercise were not run, as text."""
    left = [f"{check.name} ({check.message})" for check in checks if check.status == "not_run"]
    return f"Not run here: {'; '.join(left)}." if left else ""


def _results(exercise: Exercise, attempt: Attempt, weights: Mapping[str, float]) -> tuple[CheckResult, ...]:
    """What each check found, with its share of the points. An answer whose ordinary values are wrong earns none."""
    findings = attempt.findings
    counted = [finding for finding in findings if finding.check.graded and not finding.check.not_run]
    parts = points.shares([(f.check.property, f.check.weight) for f in counted], exercise.points, weights)
    worth = dict(zip(map(id, counted), parts, strict=True))
    wrong = any(finding.failed and finding.check.core for finding in counted)
    return tuple(
        _result(exercise, finding, worth.get(id(finding), 0.0), wrong, attempt.withheld)
        for finding in findings
        if not _is_free_cost(finding)  # it is among the remarks
    )


def _result(exercise: Exercise, finding: Finding, worth: float, wrong: bool, withheld: bool) -> CheckResult:
    check = finding.check
    status: Status = "not_run" if check.not_run else "failed" if finding.failed else "passed"
    message = check.not_run or (say(WITHHELD) if withheld and finding.mismatches else finding.message)
    if check.later and message:
        edge = diagnose_edge(exercise, finding)
        message = edge.hint.splitlines()[0] if edge else places(message)  # whole, no reader would know it again
        message += " " + say("(This costs nothing here; unit {unit} is about it.)", unit=check.later)
    earned = 0.0 if wrong or status != "passed" else worth
    return CheckResult(
        name=check.name,
        status=status,
        message=message,
        weight=check.weight,
        map=() if withheld else finding.map,
        points=earned,
        of=worth,
        property=check.property,
    )


def stopped_early(attempt: Attempt) -> str:
    """The reason why the box ended early; empty if it did not."""
    for finding in attempt.findings:
        for answer in finding.answers:
            if getattr(answer.actual, "kind", None) in ("timeout", "memory", "crash"):
                return say(WITHHELD) if attempt.withheld else answer.actual.message
    return ""
