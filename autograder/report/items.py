"""Item analysis: how many pass each check of an exercise, what it earns, and whether it separates strong from weak.

A check that nearly everybody passes, or that strong students fail as often as weak ones, tells little: it is a reason
to look at the check, or at the sentence in the lesson that it follows from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from autograder.report.group import Verdicts, point_biserial

RUN = ("passed", "failed")


@dataclass(frozen=True)
class CheckStatistics:
    """A check in a class.

    `kind` is the property that it checks; `earned` and `of` are mean points; `discrimination` is None if undefined.
    """

    exercise: str
    name: str
    kind: str
    passed: int
    failed: int
    earned: float
    of: float
    discrimination: float | None


def check_items(students: Sequence[Verdicts]) -> list[CheckStatistics]:
    """Every check that was run for someone, in the order of the notebooks and of the verdicts."""
    keys = {(exercise, name): None for one in students for exercise, name, _ in _checks(one)}
    return [_item(exercise, name, students) for exercise, name in keys]


def _checks(verdicts: Verdicts) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(exercise, name, check) of a student's graded answers, without those that could not be run.

    Checks of one name, such as those of two functions of an exercise, are numbered from the second on.
    """
    for exercise, verdict in verdicts.items():
        named = Counter[str]()
        for check in verdict.get("checks", ()) if verdict["status"] in RUN else ():
            named[check["name"]] += 1
            number = named[check["name"]]
            if check["status"] in RUN:
                yield exercise, check["name"] + (f" ({number})" if number > 1 else ""), check


def _item(exercise: str, name: str, students: Sequence[Verdicts]) -> CheckStatistics:
    own: list[dict[str, Any]] = []
    rest: list[float] = []
    for one in students:
        for at, called, check in _checks(one):
            if (at, called) == (exercise, name):
                own.append(check)
                rest.append(_rest(one, check))
    passed = [check["status"] == "passed" for check in own]
    points = [(float(check.get("points") or 0), float(check.get("of") or 0)) for check in own]
    earned, most = (mean(values) for values in zip(*points, strict=True))
    kind = str(own[0].get("property") or "")
    discrimination = point_biserial(passed, rest)
    return CheckStatistics(exercise, name, kind, sum(passed), len(own) - sum(passed), earned, most, discrimination)


def _rest(verdicts: Verdicts, check: dict[str, Any]) -> float:
    """The share of the points that everything but this check has earned."""
    graded = [verdict for verdict in verdicts.values() if verdict["status"] in RUN]
    most = sum(float(verdict["max_score"]) for verdict in graded) - float(check.get("of") or 0)
    got = sum(float(verdict["score"]) for verdict in graded) - float(check.get("points") or 0)
    return got / most if most > 0 else 0.0


def table_rows(items: Sequence[CheckStatistics]) -> list[list[str | float | None]]:
    """A head and a row for each check, as for a CSV file."""
    head: list[str | float | None] = [
        "exercise", "check", "property", "passed", "failed", "mean points", "of", "discrimination"
    ]  # fmt: skip
    rows: list[list[str | float | None]] = [
        [one.exercise, one.name, one.kind, float(one.passed), float(one.failed), one.earned, one.of,
         one.discrimination] for one in items
    ]  # fmt: skip
    return [head, *rows]
