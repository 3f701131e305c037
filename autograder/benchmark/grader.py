"""The interface of a grader in the benchmark: it covers some exercises, and decides whether an answer is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from autograder.api import Exercise, Limits
from autograder.exercises import injected_modules, plugins, registry
from autograder.sandbox.base import Backend
from autograder.sandbox.client import Cell, SandboxClient

GROUP = "autograder.graders"
FOLDER = Path(__file__).parent / "graders"


@dataclass(frozen=True)
class Judgement:
    """accepted: whether it judges the answer to be right; misconception: its name for the mistake, if any.

    values: whether ordinary values were found to be wrong, if the grader reports what failed; why: its message.
    """

    accepted: bool
    misconception: str | None = None
    values: bool | None = None
    why: str = ""


class BenchmarkGrader(Protocol):
    """title: a few words for the table; follows: the publication that describes its way of testing, and its authors."""

    title: str
    follows: str

    def covers(self, exercise: Exercise) -> bool:
        """Whether it can test this exercise."""

    def judge(self, exercise: Exercise, source: str, backend: Backend) -> Judgement:
        """Its judgement of an answer, which it must run only in a box of `backend`."""


@dataclass(frozen=True)
class TestSource:
    """Tests of the usual kind: Python that runs after the answer, in its namespace; an exception rejects the answer.

    tests: exercise id -> source. The answer and the tests run in one box, as in those graders.
    """

    title: str
    follows: str
    tests: Mapping[str, str]
    limits: Limits = Limits()

    def covers(self, exercise: Exercise) -> bool:
        """Whether it has a test for that exercise."""
        return exercise.id in self.tests

    def judge(self, exercise: Exercise, source: str, backend: Backend) -> Judgement:
        """Accepted if neither the answer nor the tests raise. Raises SandboxError; KeyError for an exercise it does not
        cover."""
        cells = [Cell("answer", source), Cell("tests", self.tests[exercise.id])]
        with SandboxClient(backend, self.limits) as box:
            box.inject(injected_modules.modules(registry.injected_references(exercise)))
            outcomes = box.run_cells(cells)
        errors = [outcome.error for outcome in outcomes if outcome.error]
        return Judgement(accepted=not errors and len(outcomes) == len(cells), why=errors[0] if errors else "")


def graders() -> dict[str, BenchmarkGrader]:
    """Name -> grader, the built-in ones and those of other packages. Raises ValueError for a duplicate name."""
    builtin = {
        file.stem: f"{__package__}.graders.{file.stem}:GRADER"
        for file in sorted(FOLDER.glob("*.py"))
        if file.stem != "__init__"
    }
    return {name: plugins.load(target) for name, target in plugins.list_entries(GROUP, "graders", builtin).items()}
