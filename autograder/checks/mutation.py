"""Mutation testing of the checks: every mutant of the reference's own source must fail them.

A mutant that raises is caught by any check, so it does not count. A mutant that changes nothing that is graded is
listed in the unit's `equivalent.toml` with the reason; any other mutant that passes is a survivor.
"""

from __future__ import annotations

import signal
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from autograder.api import Exercise
from autograder.checks.compare import RaisedError, agree
from autograder.checks.local import LocalSubject
from autograder.checks.operators import Key, Mutant, mutants
from autograder.checks.probe import QuestionSet, observe
from autograder.exercises import injected_modules, registry

SECONDS = 10  # a mutant's loop may never end


class GradientCut:
    """Detaches a tensor, and records whether it required a gradient."""

    flowed = False

    def __call__(self, value: Any) -> Any:
        """The tensor without its history."""
        self.flowed |= value.requires_grad
        return value.detach()


class MutantTimeout(Exception):
    """A mutant did not finish."""


@dataclass
class MutationScore:
    """The results for one exercise's mutants. A complaint is a survivor, or a wrong entry of `equivalent.toml`."""

    exercise: str
    killed: int = 0
    survived: int = 0
    crashed: int = 0
    equivalent: int = 0
    complaints: list[str] = field(default_factory=list)
    notes = ()

    @property
    def sound(self) -> bool:
        """Whether there is no survivor and the list of equivalent mutants is right."""
        return not self.complaints

    @property
    def line(self) -> str:
        """One line of the report."""
        counted = self.killed + self.survived
        share = f"{100 * self.killed / counted:.1f}%" if counted else "none"
        return (
            f"{self.exercise:32} mutants {counted:4}  killed {self.killed:4}  survived {self.survived}  "
            f"mutation score {share}  "
            f"not counted: equivalent {self.equivalent}, stopped by an error {self.crashed}"
        )


def total(scores: Sequence[MutationScore]) -> MutationScore:
    """The sum over all exercises."""
    whole = MutationScore("all exercises")
    for score in scores:
        for name in ("killed", "survived", "crashed", "equivalent"):
            setattr(whole, name, getattr(whole, name) + getattr(score, name))
    return whole


def mutants_of(exercise: Exercise) -> list[Mutant]:
    """All mutants of the exercise's references, and of those helpers that are not references of another exercise."""
    others = {
        dotted.split(":")[1]
        for other in registry.exercises()
        for dotted in other.references
        if dotted not in exercise.references
    }
    source, _ = injected_modules.source([exercise])
    return list(mutants(source, injected_modules.definitions(source) - others))


def equivalents(exercise: Exercise) -> dict[Key, str]:
    """The equivalent mutants, with the reason why each gives the reference's answers wherever answers are graded."""
    path = exercise.folder / "equivalent.toml" if exercise.folder else None
    if path is None or not path.exists():
        return {}
    listed = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    own = [entry for entry in listed if entry["exercise"] == exercise.id]
    return {(entry["definition"], entry["old"], entry["new"]): entry["reason"] for entry in own}


def mutation_score(exercise: Exercise, question_sets: Sequence[QuestionSet], every: int = 1) -> MutationScore:
    """Put the exercise's questions to every n-th of its mutants, and verify the list of equivalent ones."""
    score, listed, made = MutationScore(exercise.id), equivalents(exercise), mutants_of(exercise)
    outdated = listed.keys() - {mutant.key for mutant in made}
    score.complaints += [
        f"equivalent.toml lists a change that is not a mutant: {old}  =>  {new}" for _, old, new in outdated
    ]
    for mutant in made[::every]:
        fate, known = _fate(mutant, exercise, question_sets), mutant.key in listed
        if known and fate != "survived":
            score.complaints.append(f"equivalent.toml lists a mutant that is caught: {mutant.name}")
        elif known:
            score.equivalent += 1
        elif fate == "survived":
            score.survived += 1
            score.complaints.append(f"survived: {mutant.operator} in {mutant.name}")
        else:
            score.killed, score.crashed = score.killed + (fate == "killed"), score.crashed + (fate == "crashed")
    return score


def _fate(mutant: Mutant, exercise: Exercise, question_sets: Sequence[QuestionSet]) -> str:
    """killed or crashed, by the first answer that differs; survived; or idle, if it cut where no gradient flows."""
    cut = GradientCut()
    namespace: dict[str, Any] = {"__name__": "mutant", "cut": cut}
    try:
        exec(compile(mutant.source, "mutant.py", "exec"), namespace)
    except Exception:  # a mutation in a default or a class's body
        return "crashed"
    subject = LocalSubject({symbol: namespace[symbol] for symbol in exercise.symbols})
    try:
        with deadline():
            for actual in _wrong(subject, question_sets):
                return "crashed" if isinstance(actual, RaisedError) else "killed"
    except MutantTimeout:
        return "crashed"
    return "idle" if mutant.operator == "cut_gradient" and not cut.flowed else "survived"


def _wrong(subject: LocalSubject, question_sets: Sequence[QuestionSet]) -> Iterator[Any]:
    """The answers that are not the reference's."""
    for _, pairs in question_sets:
        for probe, expected in pairs:
            actual = observe(subject, probe)
            if not agree(expected, actual, probe.tolerance):
                yield actual


@contextmanager
def deadline() -> Iterator[None]:
    """Raise MutantTimeout in a block that takes longer than SECONDS; a platform without such a timer has no limit."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def on_alarm(*_: object) -> None:
        """Raises MutantTimeout in whatever the mutant is doing."""
        raise MutantTimeout(f"not done after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
