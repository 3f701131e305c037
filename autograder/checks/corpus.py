"""Our own right and wrong answers against the checks: how many wrong ones are caught, and called by their name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder import registry
from autograder.answers import Answer, answers
from autograder.api import Exercise
from autograder.checks.local import Local
from autograder.checks.probe import Asked, Finding, answered, questions
from autograder.checks.reference import reference_of
from autograder.diagnose import Misconception, diagnose, wrong_answers


@dataclass
class Score:
    """What became of one exercise's answers.

    That a wrong answer is called by its name says only that no two of ours behave alike, as it meets itself there.
    How well names fit others' code is told by those that were rewritten in another way, and by leaving each one out:
    then nothing fits, and it must be said so.
    """

    exercise: str
    right: int = 0
    wrong: int = 0
    caught: int = 0
    named: int = 0
    rewritten: int = 0
    recognised: int = 0  # of the rewritten
    silent: int = 0  # of the wrong: no name is given to it where its own is not known
    complaints: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Every answer was judged as it should be."""
        return not self.complaints

    @property
    def line(self) -> str:
        """One line of the report."""
        share = f"{100 * self.caught / self.wrong:.0f}%" if self.wrong else "none"
        return (
            f"{self.exercise:32} right {self.right:3}  wrong {self.wrong:3}  mutation score {share:>4}  "
            f"named {self.named}/{self.wrong}  rewritten {self.recognised}/{self.rewritten}  "
            f"left out {self.silent}/{self.wrong}"
        )


def together(scores: Sequence[Score]) -> Score:
    """All exercises as one."""
    whole = Score("all exercises")
    for name in ("right", "wrong", "caught", "named", "rewritten", "recognised", "silent"):
        setattr(whole, name, sum(getattr(score, name) for score in scores))
    return whole


def asked_of(exercise: Exercise, seed: int) -> list[Asked]:
    """The exercise's questions with the reference's answers: put to many subjects, drawn and answered once."""
    checks = registry.check_function(exercise)()
    return list(questions(checks, reference_of(exercise), f"{seed}/{exercise.id}"))


def examined(path: Answer, asked: list[Asked]) -> list[Finding]:
    """All checks of one of our own answers, in this process."""
    namespace: dict[str, Any] = {"__name__": "answer"}
    exec(compile(path.read_text(encoding="utf-8"), path.name, "exec"), namespace)
    return answered(asked, Local(namespace))


def judge(exercise: Exercise, asked: list[Asked]) -> Score:
    """Every answer of the exercise's corpus; what was misjudged stands in `complaints`."""
    score = Score(exercise.id)
    for path in answers(exercise, "right"):
        score.right += 1
        for finding in examined(path, asked):
            if finding.failed:
                score.complaints.append(f"right/{path.stem} fails {finding.check.name}: {finding.message}")
    for path in wrong_answers(exercise):
        _judge_wrong(exercise, path, examined(path, asked), score)
    for path in answers(exercise, "rewritten"):
        found = diagnose(exercise, examined(path, asked))
        recognised = found is not None and found.name == path.stem
        score.rewritten, score.recognised = score.rewritten + 1, score.recognised + recognised
        score.notes += [f"rewritten/{path.stem} is taken for {_called(found)}"] * (not recognised)
    return score


def _judge_wrong(exercise: Exercise, path: Answer, findings: list[Finding], score: Score) -> None:
    found = diagnose(exercise, findings)
    caught, named = any(finding.failed for finding in findings), found is not None and found.name == path.stem
    score.wrong, score.caught, score.named = score.wrong + 1, score.caught + caught, score.named + named
    if not caught:
        score.complaints.append(f"wrong/{path.stem} passes")
    elif not named:
        score.complaints.append(f"wrong/{path.stem} is taken for {_called(found)}")
    other = diagnose(exercise, findings, [known for known in wrong_answers(exercise) if known != path])
    score.silent += other is None
    score.notes += [f"wrong/{path.stem}, were it not known, would be taken for {_called(other)}"] * (other is not None)


def _called(found: Misconception | None) -> str:
    return found.name if found else "none we know"
