"""The two rules of credit, and the one place where they make points; `[grading]` in course.toml chooses.

`distance`: an answer that is one known edit away from a right one keeps 70 % of the points, at two edits 40 %, at three
10 %, and never less than its checks earn. `checks`: only what the checks earn (decision 251).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from autograder.api import CheckResult
from autograder.settings.credit import DEFAULT, CreditRule

SHARES = (0.7, 0.4, 0.1)  # of the points, at one, two and three edits


@dataclass(frozen=True)
class Distance:
    """How far an answer is from a right one.

    `evidence` says how that was verified. "repaired": the edits' inverse was made in the student's own code, and the
    repaired program was run in a box with the exercise's checks; `kept` is the share of the points that it then earned.
    "behaviour": the inverse could not be made in code that is written so differently; but a right answer with these
    edits gave the student's answer to every ordinary question that was asked, and to fresh ones; `kept` is the share of
    the points without the checks that the student failed otherwise than by these edits.
    """

    mistakes: tuple[str, ...]  # names of collected mistakes; of a mutation its operator
    evidence: Literal["repaired", "behaviour"]
    kept: float = 1.0
    conceptual: bool = False  # whether one of the mistakes is an error of concept, which never keeps more than a slip
    place: tuple[str, int] | None = None  # the cell, and its only line, in which a change makes the program right

    @property
    def edits(self) -> int:
        """The number of edits."""
        return len(self.mistakes)

    @property
    def share(self) -> float:
        """The share of the points that an answer at this distance keeps."""
        return self.kept * self.cap

    @property
    def cap(self) -> float:
        """The share that so many edits keep, which is the most that errors of concept may keep."""
        return SHARES[self.edits - 1] if self.edits <= len(SHARES) else 0.0


def credit_points(by_checks: float, most: float, distance: Distance | None, rule: CreditRule = DEFAULT) -> float:
    """The points of a failed answer, of `most`: those that its checks earn, or more by its distance.

    The distance never lowers them, unless the error is one of concept: that keeps no more than its edits do.
    """
    if rule == "checks" or distance is None:
        return by_checks
    better = max(by_checks, most * distance.share)
    return min(better, most * distance.cap) if distance.conceptual else better


def spread(checks: Sequence[CheckResult], score: float) -> tuple[CheckResult, ...]:
    """The checks with `score` points among them: first those that passed earn theirs, then what is left goes to those
    that failed, so that the points of the checks are those of the exercise."""
    passed, failed = _room(checks, "passed"), _room(checks, "failed")
    for_passed = min(score, passed)
    times = {
        "passed": for_passed / passed if passed else 0.0,
        "failed": (score - for_passed) / failed if failed else 0.0,
    }
    return tuple(replace(check, points=check.of * times.get(check.status, 0.0)) for check in checks)


def _room(checks: Sequence[CheckResult], status: str) -> float:
    return math.fsum(check.of for check in checks if check.status == status)
