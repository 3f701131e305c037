"""The goals of diagnosis, and whether `autograder corpus --report` meets them: one row for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.corpus.diagnosis import DiagnosisReport
    from autograder.corpus.judge import Score
    from autograder.corpus.lines import Lines


@dataclass(frozen=True)
class Goal:
    """A share of answers, and the least or the greatest share that is aimed at (in per cent)."""

    what: str
    hits: int
    total: int
    bound: float
    at_most: bool = False

    @property
    def share(self) -> float:
        """In per cent; 0 where nothing was measured."""
        return 100 * self.hits / self.total if self.total else 0.0

    @property
    def least(self) -> int:
        """How many answers it takes until one exception does not miss the goal: with fewer, a share says nothing.

        Where no exception is allowed, that is one.
        """
        allowed = self.bound if self.at_most else 100 - self.bound
        return math.ceil(100 / allowed) if allowed else 1

    @property
    def met(self) -> bool | None:
        """None where nothing was measured, or too little to say that the goal is missed."""
        if not self.total:
            return None
        if self.share <= self.bound if self.at_most else self.share >= self.bound:
            return True
        return False if self.total >= self.least else None

    @property
    def line(self) -> str:
        """One line of the report."""
        unknown = f"too few to tell: it takes {self.least}" if self.total else "not measured"
        verdict = {True: "met", False: "MISSED", None: unknown}[self.met]
        aim = f"at {'most' if self.at_most else 'least'} {self.bound:g} %"
        return f"{self.what:62} {self.hits:5} of {self.total:5} {self.share:6.1f} %   goal: {aim:15} {verdict}"


def goals(score: Score, lines: Lines, diagnosis: DiagnosisReport) -> list[Goal]:
    """The goals, measured on the sums over the exercises.

    Only mistakes that diagnosis does not know can show how much stays unexplained: those that are held out, and those
    that were rewritten in another style.
    """
    unknown = diagnosis.held + score.rewritten
    unexplained = diagnosis.held - diagnosis.held_kinds + score.unexplained
    return [
        Goal("wrong answers with one mistake, which is named", score.named, score.wrong, 95),
        Goal("pairs of mistakes, both named", diagnosis.both_named, diagnosis.pairs, 70),
        Goal("pairs of mistakes, at least one named", diagnosis.one_named, diagnosis.pairs, 95),
        Goal("first wrong line at most two lines from the edit", lines.near, lines.edits, 90),
        Goal("right answers with a failed check", score.false_alarms, score.right, 0, at_most=True),
        Goal("held out or rewritten mistakes without an explanation", unexplained, unknown, 5, at_most=True),
    ]


def goal_lines(wanted: Sequence[Goal]) -> str:
    """The rows below the report's sums."""
    return "\n".join(["goals", *(f"  {goal.line}" for goal in wanted)])
