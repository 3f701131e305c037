"""Our own right and wrong answers against the checks: how many wrong ones are caught, and called by their name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder import registry
from autograder.api import Exercise
from autograder.checks.local import Local
from autograder.checks.probe import Finding, examine
from autograder.checks.reference import reference_of
from autograder.diagnose import diagnose, wrong_answers


@dataclass
class Score:
    """What became of one exercise's answers."""

    exercise: str
    right: int = 0
    wrong: int = 0
    caught: int = 0
    named: int = 0
    complaints: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """One line of the report."""
        share = f"{100 * self.caught / self.wrong:.0f}%" if self.wrong else "none"
        return (
            f"{self.exercise:32} right {self.right:2}  wrong {self.wrong:2}  "
            f"mutation score {share:>4}  named {self.named}/{self.wrong}"
        )


def answers(exercise: Exercise, kind: str) -> list[Path]:
    """The exercise's answers, `right` or `wrong`."""
    if exercise.folder is None:
        return []
    return sorted((exercise.folder / "submissions" / exercise.id / kind).glob("*.py"))


def examined(exercise: Exercise, path: Path, seed: int) -> list[Finding]:
    """All checks of one of our own answers, in this process."""
    namespace: dict[str, Any] = {"__name__": "answer"}
    exec(compile(path.read_text(encoding="utf-8"), path.name, "exec"), namespace)
    checks = registry.check_function(exercise)()
    return examine(checks, Local(namespace), reference_of(exercise), f"{seed}/{exercise.id}")


def judge(exercise: Exercise, seed: int = 0) -> Score:
    """Every answer of the exercise's corpus; what was misjudged stands in `complaints`."""
    score = Score(exercise.id)
    for path in answers(exercise, "right"):
        score.right += 1
        for finding in examined(exercise, path, seed):
            if finding.failed:
                score.complaints.append(f"right/{path.stem} fails {finding.check.name}: {finding.message}")
    for path in wrong_answers(exercise):
        findings = examined(exercise, path, seed)
        found = diagnose(exercise, findings)
        caught, named = any(finding.failed for finding in findings), found is not None and found.name == path.stem
        score.wrong, score.caught, score.named = score.wrong + 1, score.caught + caught, score.named + named
        if not caught:
            score.complaints.append(f"wrong/{path.stem} passes")
        elif not named:
            score.complaints.append(f"wrong/{path.stem} is taken for {found.name if found else 'none we know'}")
    return score
