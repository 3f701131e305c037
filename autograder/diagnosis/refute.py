"""Takes back the name of a mistake that fresh answers of the student's code refute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.api import Exercise
from autograder.checks.probe import Finding, is_crash
from autograder.diagnosis.compose import CombinedMistakes, agrees
from autograder.diagnosis.diagnose import Misconception, is_noisy, known_answers
from autograder.diagnosis.evidence import Evidence, Replies
from autograder.exercises.answers import EditedAnswer

OF_DETAIL = ("edges", "gradients")  # what a mistake may have wrong alone


def is_refuted(
    exercise: Exercise, found: Misconception, findings: Sequence[Finding], reference: Any, subject: Any
) -> bool:
    """Whether the student's code, asked anew, gives a wrong answer that this mistake, or these together, do not give.

    Where ordinary values are right, what failed is asked anew: edge cases, or gradients. Code that draws random numbers
    never gives the same answer again, so that nothing refutes its name. Of mistakes that no program can have together
    the first gives the values, and the second another property.
    """
    if any(is_noisy(answer) for finding in findings for answer in finding.failed):
        return False
    known = {one.stem: one for one in known_answers(exercise)}
    parts = [known[name] for name in found.names]
    edits = tuple(one for one in parts if isinstance(one, EditedAnswer))
    combined = CombinedMistakes(edits) if len(edits) == len(parts) > 1 else None
    evidence = Evidence(exercise, Replies([], [], reference), subject)
    asked = [finding for property in _asked(findings) for finding in evidence.fresh(property)]
    wrong = [answer for finding in asked for answer in finding.failed if not is_crash(answer)]
    return not agrees(combined if combined is not None and combined.can_be_made else parts[0], wrong)


def _asked(findings: Sequence[Finding]) -> list[str]:
    """The properties that are asked anew: of a mistake in ordinary values the same mistake in other code may have other
    edge cases wrong."""
    if any(finding.failed and finding.check.core for finding in findings):
        return ["values"]
    failed = {finding.check.property for finding in findings if finding.failed}
    return ["values", *(one for one in OF_DETAIL if one in failed)]
