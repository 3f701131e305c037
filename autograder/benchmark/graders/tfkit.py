"""This project's own engine, as `autograder check` runs it: properties on fresh inputs, a verdict formed outside."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.api import SEPARATOR, Exercise
from autograder.benchmark.grader import Judgement
from autograder.grade import run
from autograder.sandbox.base import Backend, SandboxError

ORDINARY = "right values"  # the check of ordinary inputs, besides those of extreme ones and of training


@dataclass(frozen=True)
class EngineGrader:
    """The engine with a fixed seed for the benchmark."""

    title: str = "tfkit's checks"
    follows: str = "this project: `autograder check`"
    seed: int = 20261123

    def covers(self, exercise: Exercise) -> bool:
        """True: it covers every exercise."""
        return True

    def judge(self, exercise: Exercise, source: str, backend: Backend) -> Judgement:
        """The engine's verdict. Raises SandboxError if there is none."""
        verdict = run.grade_source(exercise, source, backend=backend, seed=self.seed, device="cpu")
        if verdict.status == "not_graded":
            raise SandboxError(verdict.reason)
        failed = [check for check in verdict.checks if check.status == "failed"]
        values = any(check.name == ORDINARY for check in failed)
        why = "; ".join(check.name for check in failed)
        return Judgement(verdict.status == "passed", SEPARATOR.join(verdict.misconceptions) or None, values, why)


GRADER = EngineGrader()
