"""How many attempts an exercise took, and how long: from the records of `autograder grade`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from autograder.cluster.history import AttemptRecord


@dataclass(frozen=True)
class FullMarks:
    """How students reached full marks in an exercise: their attempts, and the hours since the first graded one."""

    exercise: str
    students: int
    attempts: list[int]
    hours: list[float]

    @property
    def first_attempt(self) -> int:
        """Students whose first attempt had full marks."""
        return self.attempts.count(1)

    @property
    def median_attempts(self) -> float:
        """The median number of attempts of students with full marks."""
        return median(self.attempts)

    @property
    def median_hours(self) -> float | None:
        """The median hours of students who got full marks in a later attempt; None if there are none."""
        later = [hours for number, hours in zip(self.attempts, self.hours, strict=True) if number > 1]
        return median(later) if later else None


def full_marks(attempts: Sequence[AttemptRecord]) -> list[FullMarks]:
    """A FullMarks for each exercise; empty if nobody submitted twice, since there is nothing to compare then."""
    attempts = [one for one in attempts if not one.state]
    if not any(one.number > 1 for one in attempts):
        return []
    names = dict.fromkeys(verdict["exercise"] for one in attempts for verdict in one.verdicts)
    return [_full_marks(name, attempts) for name in names]


def _full_marks(name: str, attempts: Sequence[AttemptRecord]) -> FullMarks:
    started: dict[str, AttemptRecord] = {}
    reached: dict[str, AttemptRecord] = {}
    for one in attempts:
        verdict = next((verdict for verdict in one.verdicts if verdict["exercise"] == name), None)
        if verdict is None:
            continue
        started.setdefault(one.student, one)
        if verdict["status"] == "passed":
            reached.setdefault(one.student, one)
    hours = [(one.at - started[student].at).total_seconds() / 3600 for student, one in reached.items()]
    return FullMarks(name, len(started), [one.number for one in reached.values()], hours)
