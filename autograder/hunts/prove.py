"""Proves hunts: the fault is seen by the checks and by the symptom, and the known repair is right and has to be whole.

The symptom is asked a second time, from the text of the code and of its repair, so that it depends on nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from autograder.api import Exercise
from autograder.checks.compare import compare
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer, QuestionSet, observe
from autograder.diagnosis.limit import TimeLimitExceeded
from autograder.exercises import registry
from autograder.exercises.contracts import with_adapter
from autograder.hunts.make import Hunt, hunts
from autograder.hunts.symptom import COSTLY, Failures, describe, examine, failures_of, question_sets

TRIES = 5  # code whose fault is that it draws random numbers is right now and then


@dataclass(frozen=True)
class Proof:
    """What is known of one hunt."""

    hunt: str
    lines: int  # that the known repair changes
    difficulty: int  # 1 to 3
    broken: tuple[str, ...]  # the checks that fail
    seen_in: str  # the property in which the symptom is seen
    complaints: tuple[str, ...] = ()

    @property
    def observable(self) -> bool:
        """Whether checks and symptom both see the fault."""
        return bool(self.broken) and bool(self.seen_in)


@dataclass
class ExerciseProofs:
    """The proofs of an exercise's hunts, as rows that JSON can hold."""

    exercise: str
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def proofs(self) -> list[Proof]:
        """The rows as proofs."""
        return [Proof(**{**row, "broken": tuple(row["broken"]), "complaints": tuple(row["complaints"])})
                for row in self.rows]  # fmt: skip

    @property
    def complaints(self) -> list[str]:
        """A line for each thing that does not hold."""
        return [f"{one.hunt}: {complaint}" for one in self.proofs for complaint in one.complaints]


def prove_exercise(name: str, seed: int, faults: int, sample: int | None) -> tuple[ExerciseProofs]:
    """Prove the exercise's hunts with so many faults, `sample` of them where that is given."""
    exercise = registry.find(name)
    found = hunts(exercise, faults)
    if sample is not None and sample < len(found):
        found = sorted(random.Random(f"{seed}/{name}").sample(found, sample), key=lambda hunt: hunt.id)
    prover = Prover(exercise, question_sets(exercise, seed))
    return (ExerciseProofs(name, [asdict(prover.prove(hunt)) for hunt in found]),)


@dataclass
class Prover:
    """Proves hunts of one exercise with one set of questions."""

    exercise: Exercise
    asked: Sequence[QuestionSet]
    _broken: dict[str, list[str]] = field(default_factory=dict)  # code -> the checks that fail

    def prove(self, hunt: Hunt) -> Proof:
        """The proof of one hunt; code that does not end is a complaint."""
        try:
            examined = examine(self.exercise, hunt.code, self.asked)
            seen = failures_of(self.exercise, examined)
            complaints = [] if examined.broken else ["no check sees the fault"]
            complaints += self._of_symptom(hunt, seen) + self._of_repair(hunt)
            where = seen.main.check.property if seen else ""
            return Proof(
                hunt.id, hunt.changed_lines, examined.difficulty, tuple(examined.broken), where, tuple(complaints)
            )
        except TimeLimitExceeded:
            return Proof(hunt.id, hunt.changed_lines, 1, (), "", ("the code does not end",))

    def _of_symptom(self, hunt: Hunt, seen: Failures | None) -> list[str]:
        if seen is None:
            return ["nothing is seen of the fault"]
        complaints = []
        if not describe(self.exercise, seen).shows_a_difference:
            complaints.append("the symptom shows the same for the faulty code and for right code")
        for finding in filter(None, (seen.main, seen.flow)):
            if finding.simplest is not None and finding.check.property not in COSTLY:  # costs are never twice the same
                complaints += _asked_again(hunt, finding.simplest)
        return complaints

    def _of_repair(self, hunt: Hunt) -> list[str]:
        """What does not hold of the smallest known repair."""
        complaints = []
        if broken := self._broken_by(hunt.repair):
            complaints.append(f"the repair fails {', '.join(broken)}")
        if not hunt.changed_lines or not all(hunt.fault_lines):
            complaints.append("the code has no line that the repair changes")
        if len(hunt.faults) > 1:
            complaints += [
                f"with {fault.stem} repaired alone nothing is wrong"
                for fault in hunt.faults
                if not self._broken_by(hunt.without(fault))
            ]
        return complaints

    def _broken_by(self, code: str) -> list[str]:
        if code not in self._broken:
            self._broken[code] = examine(self.exercise, code, self.asked).broken
        return self._broken[code]


def _asked_again(hunt: Hunt, answer: Answer) -> list[str]:
    """Whether the faulty code and its repair, run anew, give what the symptom says."""
    tolerance, complaints = answer.probe.tolerance, []
    faulty, repaired = (
        LocalSubject.from_source(with_adapter(hunt.exercise, code)) for code in (hunt.code, hunt.repair)
    )
    if all(compare(answer.expected, observe(faulty, answer.probe), tolerance) is None for _ in range(TRIES)):
        complaints.append("the symptom is not there when the code runs again")
    if compare(answer.expected, observe(repaired, answer.probe), tolerance) is not None:
        complaints.append("the repair shows the symptom too")
    return complaints


def summary(proofs: Sequence[Proof]) -> str:
    """One line on all proofs."""
    count, seen = len(proofs), sum(proof.observable for proof in proofs)
    sound = sum(not proof.complaints for proof in proofs)
    levels = ", ".join(f"{sum(proof.difficulty == level for proof in proofs)} of level {level}" for level in (1, 2, 3))
    return f"{count} hunts: {seen} observable by checks and symptom, {sound} without a complaint; {levels}"
