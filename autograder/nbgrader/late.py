"""The penalty for late submissions, as a plugin of nbgrader's, and extensions of the due date."""

from __future__ import annotations

import math

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Dict, Float
from traitlets.config import Configurable

DAY_S = 86_400


class LatePolicy(LateSubmissionPlugin):
    """Takes off a share of the score for each day begun after the due date with its extension, if configured.

    nbgrader's own `penalty_method = "zero"` still takes off the whole score.
    """

    grace_minutes = Float(0.0, min=0, help="minutes after the deadline without a penalty").tag(config=True)
    penalty_per_day = Float(
        0.0, min=0, max=1, help="the share of the score deducted for each day or part of a day"
    ).tag(config=True)
    max_penalty = Float(1.0, min=0, max=1, help="the largest share of the score that lateness can cost").tag(
        config=True
    )
    closed_days = Float(None, allow_none=True, min=0, help="days after which a submission earns nothing").tag(
        config=True
    )
    extensions = Dict(
        value_trait=Dict(value_trait=Float(min=0)),
        help='more time, in hours: {"03-heads": {"ada": 48}}; kept in the gradebook with the student\'s submission',
    ).tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points to take off, or None if there is no penalty. The arguments are nbgrader's."""
        if total_seconds_late <= 60 * self.grace_minutes:
            return None
        if self.penalty_method != "none":
            return super().late_submission_penalty(student_id, score, total_seconds_late)
        if self.closed_days is not None and total_seconds_late > DAY_S * self.closed_days:
            return score
        share = min(self.penalty_per_day * math.ceil(total_seconds_late / DAY_S), self.max_penalty)
        return score * share or None


def extension(parent: Configurable, assignment: str, student: str) -> float | None:
    """The hours of extension that the configuration of `parent` gives this student for this assignment.

    For `Gradebook.grant_extension`: 0 removes an extension, None leaves it as it is.
    """
    return LatePolicy(parent=parent).extensions.get(assignment, {}).get(student)
