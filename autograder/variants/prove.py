"""Proves a contract: each collected answer, rewritten in its form, is judged and named as in the course's own form."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.probe import QuestionSet, collect_answers
from autograder.corpus.judge import Score, ask_reference, judge
from autograder.exercises.answers import answers
from autograder.exercises.contracts import adapter, full_id, with_contract

OWN_FORM = "right/{name} in the course's own form passes, so that the contract changes nothing that the checks see"


@dataclass(frozen=True)
class ContractProof:
    """What was found for one contract."""

    contract: str
    score: Score
    complaints: tuple[str, ...]

    @property
    def line(self) -> str:
        """One line of the report."""
        score, sign = self.score, "✗" if self.complaints else "✓"
        return (
            f"{sign} {self.contract:44} right {score.right - score.false_alarms}/{score.right}"
            f"  rejected {score.rejected}/{score.wrong}  named {score.named}/{score.wrong}"
            f"  rewritten {score.recognised}/{score.rewritten}  edge {score.at_edges}"
        )


def prove(exercise: Exercise, seed: int = 0) -> ContractProof:
    """Judge the exercise's corpus under its contract, and right answers in the course's form, which must fail."""
    questions = ask_reference(exercise, seed)
    score = judge(exercise, questions, leave_out=False)
    return ContractProof(full_id(exercise), score, (*score.complaints, *_in_the_courses_form(exercise, questions)))


def _in_the_courses_form(exercise: Exercise, questions: list[QuestionSet]) -> list[str]:
    """A complaint where the first right answer, left as it is, passes under the contract."""
    original = answers(with_contract(exercise, ""), "right")[0]
    subject = LocalSubject.from_source(f"{original.read_text(encoding='utf-8')}\n\n\n{adapter(exercise)}", "answer.py")
    failed = any(finding.failed for finding in collect_answers(questions, subject))
    return [] if failed else [OWN_FORM.format(name=original.stem)]
