"""What the grader says of one reply: a reward with its parts, and the next message to the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from autograder.api import Status, misconceptions_of, with_hints
from autograder.feedback.text import verdict_text

LONGEST_FEEDBACK = 8000  # characters; parts of it are what the code printed or raised
YOURS = "your answer"


@dataclass(frozen=True)
class ReplyOutcome:
    """score: from 0 to 1, the share of the points that the checks earn; 1 if and only if all passed.

    `not_graded` is a reply that got no verdict, for `reason`: its score of 0 says nothing about the code.
    `misconceptions` are looked for only with hints.
    """

    exercise: str
    status: Status
    score: float = 0.0
    checks: tuple[tuple[str, Status], ...] = ()
    misconceptions: tuple[str, ...] = ()
    feedback: str = ""  # the next message to the model
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return self.status == "passed"

    @property
    def parts(self) -> dict[str, float]:
        """Numbers by name, for rewards and metrics: `score`; `passed`, 0 or 1; `checks`, the share of the checks that
        passed of those that were run; `judged`, whether there is a verdict."""
        run = [status for _, status in self.checks if status in ("passed", "failed")]
        return {
            "score": self.score,
            "passed": float(self.passed),
            "checks": run.count("passed") / len(run) if run else 0.0,
            "judged": float(self.status != "not_graded"),
        }

    def as_json(self) -> dict[str, Any]:
        """The object that `autograder environment judge` writes."""
        return asdict(self) | {"checks": dict(self.checks), "misconceptions": list(self.misconceptions)}


def outcome_of(verdict: Mapping[str, Any], hints: int) -> ReplyOutcome:
    """The outcome of a verdict's JSON object; its feedback has so many steps of help, as in `api.with_hints`."""
    shown = {**with_hints(verdict, hints), "file": YOURS, "ordering": False, "section": None}
    most = verdict["max_score"] or 1.0
    passed = verdict["status"] == "passed"
    return ReplyOutcome(
        exercise=verdict["exercise"],
        status=verdict["status"],
        score=1.0 if passed else min(verdict["score"] / most, 1.0),
        checks=tuple((check["name"], check["status"]) for check in verdict["checks"]),
        misconceptions=tuple(misconceptions_of(verdict)) if hints else (),
        feedback=verdict_text(shown)[:LONGEST_FEEDBACK],
        reason=verdict["reason"],
    )


def not_graded(exercise: str, reason: str) -> ReplyOutcome:
    """The outcome of a reply that got no verdict."""
    return ReplyOutcome(exercise, "not_graded", feedback=f"{YOURS} got no verdict: {reason}", reason=reason)
