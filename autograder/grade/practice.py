"""Checks without a box: the grader's own questions to code in this process.

This is for a kernel in a browser tab, which has neither processes nor sandboxes. The result is a practice verdict and
not a grade, since the code could change the checker. The tab's torch may be a subset of torch (it then defines the name
PRACTICE); checks that it cannot run are skipped, and do not count as wrong answers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import torch

from autograder.api import Exercise, Verdict
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Check, QuestionSet, questions
from autograder.exercises import injected_modules, registry
from autograder.exercises.parse import parse_source
from autograder.grade.run import CellSource, Grader
from autograder.grade.verdict import Attempt

NAME = "practice"
BACKEND = SimpleNamespace(name=NAME, cards=False)
UNSUPPORTED_ERRORS = ("BorchError", "UnsupportedInBrowser")  # exceptions of a partial torch


def partial_torch() -> str:
    """The name of the partial torch in this process; "" if it is the real torch."""
    return str(getattr(torch, "PRACTICE", ""))


@dataclass
class PracticeGrader(Grader):
    """A Grader that runs in this process. `namespace`: the notebook's definitions, which are copied."""

    namespace: Mapping[str, Any] = field(default_factory=dict)

    def grade(self, exercise: Exercise) -> Verdict:
        """The verdict; `not_graded` if the code uses what this torch lacks."""
        verdict = super().grade(exercise)
        messages = [check.message for check in verdict.checks if check.status == "failed"]
        lack = next((message for message in messages if any(f"{name}: " in message for name in UNSUPPORTED_ERRORS)), "")
        if not lack:
            return verdict
        return replace(verdict, status="not_graded", score=0.0, checks=(), misconception=None,
                       misconceptions=(), hint=None, counterexample=None, reason=f"{lack.splitlines()[0]}")  # fmt: skip

    @contextmanager
    def _attempt(
        self, exercise: Exercise, checks: Sequence, verdict: Verdict, override: list[Exercise]
    ) -> Iterator[tuple[Attempt, Any]]:
        names, attempt = dict(self.namespace), Attempt([])
        student = LocalSubject(names)
        if override:
            text, given = injected_modules.source(override)
            student.bind(text, [name for name in given if name not in exercise.symbols])
        for source in self._cells(exercise):
            try:
                exec(compile(source.text, f"<{source.id}>", "exec", dont_inherit=True), names)
            except Exception as error:  # raised by the student's code
                attempt.missing = f"its cell stopped with {type(error).__name__}: {error}"
                break
        undefined = (f"`{name}` is not defined" for name in exercise.symbols if name not in names)
        attempt.missing = attempt.missing or next(undefined, "")
        if not attempt.missing:
            self._examine(attempt, student, exercise, checks, verdict)
        yield attempt, student

    def _ask(self, checks: Sequence[Check], reference: Any, seed: str) -> Iterator[QuestionSet]:
        return mark_unsupported(checks, reference, seed)


def mark_unsupported(checks: Sequence[Check], reference: Any, seed: str) -> Iterator[QuestionSet]:
    """As `questions`, but a check that a partial torch cannot run is marked as not run."""
    here = partial_torch()
    for check in checks:
        if here and check.property == "dtypes":
            yield replace(check, not_run=f"{here} has no such type"), []
            continue
        try:
            yield from list(questions([check], reference, seed))
        except Exception as error:
            if not here:
                raise
            yield replace(check, not_run=f"{here} cannot do it ({type(error).__name__}: {error})"), []


def practise(exercise: Exercise, cells: Sequence[str], namespace: Mapping[str, Any] | None = None) -> Verdict:
    """The practice verdict on what these cells define, run in order over a copy of `namespace`."""
    sources = [CellSource(f"cell-{index}", text, exercise.id) for index, text in enumerate(cells)]
    return PracticeGrader(sources, BACKEND, submission="\0".join(cells), device="cpu",
                          namespace=namespace or {}).grade(exercise)  # fmt: skip


def practice_verdict(exercise: str, history: Sequence[str], namespace: Mapping[str, Any]) -> dict[str, Any]:
    """As `autograder.checking.notebook.verdict`, of what a kernel has run; raises UnknownExercise."""
    found = registry.find(exercise)
    return practise(found, defining(found.symbols, history), namespace).as_json()


def defining(symbols: Iterable[str], history: Sequence[str]) -> list[str]:
    """The last cell of `history` that defines each symbol, in the order in which they were run, each once."""
    last: dict[str, int] = {}
    for place, text in enumerate(history):
        try:
            made = parse_source(text).body
        except SyntaxError:
            continue
        for node in made:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                last[node.name] = place
            elif isinstance(node, ast.Assign):
                last |= {target.id: place for target in node.targets if isinstance(target, ast.Name)}
    return [history[place] for place in sorted({last[symbol] for symbol in symbols if symbol in last})]
